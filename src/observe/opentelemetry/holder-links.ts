import { context, ROOT_CONTEXT, type Span, type SpanContext } from '@opentelemetry/api'
import type { AcquireFact } from '../../index.ts'
import { ATTRIBUTES } from './attributes.ts'
import type { HeldSpans } from './held-spans.ts'
import { fromTraceparent } from './traceparent.ts'

/**
 * The interval between two checks of all waits, in milliseconds. A wait that is shorter than this
 * interval causes no request.
 */
const LOOK_EVERY_MS = 50
/** The longest delay before a span is ended, and the time limit of one request, in milliseconds. */
const LONGEST_MS = 1_000
const MOST_LINKS = 8
const MOST_REQUESTS = 64

interface Wait {
  readonly span: Span
  readonly links: Set<string>
  readonly since: number
  /**
   * The earliest time of the next request for the holder's note, in milliseconds on the clock of
   * `performance.now()`. The pause doubles after each request, because many holders have no note.
   */
  readAt: number
  pauseMs: number
}

/**
 * Adds links to the span of each wait. The links lead to the spans of the holds for which the call
 * waits.
 */
export class HolderLinks {
  readonly #held: HeldSpans
  readonly #waits = new Map<AcquireFact, Wait>()
  readonly #requests = new Map<string, Promise<SpanContext | undefined>>()
  readonly #heldBack = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined

  constructor(held: HeldSpans) {
    this.#held = held
  }

  waitStarted(fact: AcquireFact, span: Span): void {
    if (!span.isRecording()) return
    const since = performance.now()
    const pauseMs = LOOK_EVERY_MS
    this.#waits.set(fact, { span, links: new Set(), since, readAt: since + pauseMs, pauseMs })
    this.#readLater()
  }

  /**
   * Ends the span, with the current time as its end. If the link for the holder is missing, first
   * reads the note of the holder, which takes at most {@link LONGEST_MS}. A short wait reads no
   * note.
   */
  waitEnded(fact: AcquireFact, span: Span): void {
    const endTime = performance.now()
    const wait = this.#waits.get(fact)
    this.#waits.delete(fact)
    const isAsked = wait !== undefined && endTime - wait.since >= LOOK_EVERY_MS
    if (wait === undefined || this.#isSettled(wait, fact) || !isAsked) {
      span.end()
      return
    }
    const endSpan = () => {
      clearTimeout(timer)
      if (this.#heldBack.delete(endSpan)) span.end(endTime)
    }
    const timer = inBackground(() => setTimeout(guarded(endSpan), LONGEST_MS).unref())
    this.#heldBack.add(endSpan)
    void this.#readNote(wait, fact).then(guarded(endSpan))
  }

  /** Ends all delayed spans at once. Answers that arrive later add no link. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#waits.clear()
    for (const endSpan of this.#heldBack) guarded(endSpan)()
  }

  #readLater(): void {
    this.#timer ??= inBackground(() => setTimeout(() => this.#readNotes(), LOOK_EVERY_MS).unref())
  }

  /**
   * Reads the notes of holders while the calls wait, because a client removes the note when the
   * hold ends.
   */
  #readNotes(): void {
    this.#timer = undefined
    const now = performance.now()
    for (const [fact, wait] of this.#waits) {
      if (wait.readAt > now || this.#isSettled(wait, fact)) continue
      wait.pauseMs *= 2
      wait.readAt = now + wait.pauseMs
      void this.#readNote(wait, fact)
    }
    if (this.#waits.size > 0) this.#readLater()
  }

  /**
   * Adds the link for the holder if its span is in memory. Then returns true if the wait needs no
   * request: the link exists, the wait has `MOST_LINKS` links, or the holder is unknown.
   */
  #isSettled(wait: Wait, { name, path, holder }: AcquireFact): boolean {
    if (holder === undefined && path === 'local') {
      // The call waited behind other calls of its client, so the server never named the holder to
      // this call.
      const span = this.#held.find(name)
      if (span !== undefined) guarded(link)(wait, '', span)
    }
    if (holder === undefined || wait.links.has(holder) || wait.links.size >= MOST_LINKS) return true
    const span = this.#held.find(name, holder)
    if (span !== undefined) guarded(link)(wait, holder, span)
    return span !== undefined
  }

  /**
   * Reads the note of the holder, and adds the link. Several waits for the same holder share one
   * request. The promise never rejects.
   */
  async #readNote(wait: Wait, { notes, holder }: AcquireFact): Promise<void> {
    if (notes === undefined || holder === undefined) return
    let request = this.#requests.get(holder)
    if (request === undefined) {
      if (this.#requests.size >= MOST_REQUESTS) return
      request = inBackground(() => read(notes.get.bind(notes, holder)))
      this.#requests.set(holder, request)
      void request.then(() => this.#requests.delete(holder))
    }
    const span = await request
    if (span !== undefined) guarded(link)(wait, holder, span)
  }
}

function link({ span, links }: Wait, holder: string, context: SpanContext): void {
  if (links.has(holder)) return
  links.add(holder)
  span.addLink({ context, attributes: { [ATTRIBUTES.link]: 'holder' } })
}

/**
 * Reads a note. Gives up after {@link LONGEST_MS}, because requests without an answer would
 * otherwise use up `MOST_REQUESTS` forever.
 */
async function read(get: () => Promise<string | undefined>): Promise<SpanContext | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), LONGEST_MS).unref()
  })
  try {
    return fromTraceparent(await Promise.race([get(), late]))
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Calls `fn` outside the trace of the running code, because the work of `fn` does not belong to
 * this trace.
 */
export function inBackground<T>(fn: () => T): T {
  return context.with(ROOT_CONTEXT, fn)
}

function guarded<A extends unknown[]>(action: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    try {
      action(...args)
    } catch {
      // An error of a span must not affect other code.
    }
  }
}
