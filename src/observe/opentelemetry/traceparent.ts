import { isSpanContextValid, type SpanContext, TraceFlags } from '@opentelemetry/api'

/**
 * Returns the context of a span as text in the format of W3C Trace Context, which has 55
 * characters.
 */
export function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

const FORM = /^[\da-f]{2}-(?<traceId>[\da-f]{32})-(?<spanId>[\da-f]{16})-(?<flags>[\da-f]{2})$/

/**
 * Reads the text of a span's context.
 *
 * @returns undefined if the text is not a traceparent, or if its span is not sampled
 */
export function fromTraceparent(text: string | undefined): SpanContext | undefined {
  const { traceId = '', spanId = '', flags = '' } = FORM.exec(text ?? '')?.groups ?? {}
  const span = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isKept(span) ? span : undefined
}

/**
 * True if the span is valid and sampled. Other spans are not exported, so a link to such a span
 * would lead to nothing.
 */
export function isKept(span: SpanContext): boolean {
  return isSpanContextValid(span) && (span.traceFlags & TraceFlags.SAMPLED) !== 0
}
