import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api'
import type { AcquireFact, HoldFact, LockFact, ReleaseFact } from '../../index.ts'
import { lossOf } from '../facts/losses.ts'
import type { NameOf } from '../facts/name-groups.ts'
import { subscribe } from '../facts/subscribe.ts'
import { ATTRIBUTES, errorType, failureOf } from './attributes.ts'
import { HeldSpans } from './held-spans.ts'
import { HolderLinks, inBackground } from './holder-links.ts'
import { isKept } from './traceparent.ts'

interface AcquireSpan {
  /** The context of the call, which becomes the parent of the hold's span. */
  readonly parent: Context
  readonly span: Span
}

/**
 * Traces all locks of this process.
 *
 * @returns a function that ends the tracing
 */
export function traceLocks(tracer: Tracer, nameOf: NameOf): () => void {
  const held = new HeldSpans()
  const links = new HolderLinks(held)
  // Both maps find a span by its fact. A hold looks up the span of the call that acquired the lock,
  // because the span of the hold has a link to that span.
  const acquiring = new WeakMap<AcquireFact, AcquireSpan>()
  const spans = new WeakMap<object, Span>()

  const attributesOf = ({ kind, name }: LockFact): Attributes => {
    const group = nameOf(name)
    return { [ATTRIBUTES.kind]: kind, ...(group !== undefined && { [ATTRIBUTES.name]: group }) }
  }
  const fail = (span: Span, type: string | undefined) => {
    if (type === undefined) return
    // The status has no message, because the message of the error may contain the name of the lock.
    span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute(ATTRIBUTES.errorType, type)
  }

  const unsubscribe = subscribe({
    acquire: {
      start(fact) {
        const parent = context.active()
        const span = tracer.startSpan(
          'holdfast.acquire',
          { attributes: attributesOf(fact) },
          parent,
        )
        acquiring.set(fact, { parent, span })
        links.waitStarted(fact, span)
      },
      finish(fact) {
        const { span } = acquiring.get(fact) ?? {}
        if (span === undefined) return
        span.setAttributes({
          ...(fact.outcome && { [ATTRIBUTES.outcome]: fact.outcome }),
          ...(fact.path && { [ATTRIBUTES.path]: fact.path }),
          ...(fact.token !== undefined && { [ATTRIBUTES.token]: fact.token }),
        })
        fail(span, failureOf(fact))
        links.waitEnded(fact, span)
      },
    },
    hold: {
      start(fact) {
        const { parent = ROOT_CONTEXT, span: cause } =
          acquiring.get(fact.acquire as AcquireFact) ?? {}
        const from = cause?.spanContext()
        const span = tracer.startSpan(
          'holdfast.hold',
          {
            attributes: { ...attributesOf(fact), [ATTRIBUTES.token]: fact.token },
            ...(from &&
              isKept(from) && {
                links: [{ context: from, attributes: { [ATTRIBUTES.link]: 'acquire' } }],
              }),
          },
          parent,
        )
        spans.set(fact, span)
        inBackground(() => held.holdStarted(fact, span.spanContext()))
      },
      finish(fact: HoldFact) {
        try {
          inBackground(() => held.holdEnded(fact))
        } finally {
          const span = spans.get(fact)
          const loss = lossOf(fact)
          span?.setAttributes({
            ...(fact.outcome && { [ATTRIBUTES.holdOutcome]: fact.outcome }),
            ...(fact.stalledMs !== undefined && { [ATTRIBUTES.stalled]: fact.stalledMs / 1_000 }),
          })
          if (span) fail(span, loss && errorType(fact.error, loss))
          span?.end()
        }
      },
    },
    release: {
      start(fact) {
        const span = tracer.startSpan(
          'holdfast.release',
          { attributes: { ...attributesOf(fact), [ATTRIBUTES.token]: fact.token } },
          context.active(),
        )
        spans.set(fact, span)
      },
      finish(fact: ReleaseFact) {
        const span = spans.get(fact)
        if (fact.outcome) span?.setAttribute(ATTRIBUTES.releaseOutcome, fact.outcome)
        if (span && fact.error !== undefined) fail(span, errorType(fact.error))
        span?.end()
      },
    },
  })
  return () => {
    unsubscribe()
    links.stop()
    inBackground(() => held.clear())
  }
}
