import type { SpanContext } from '@opentelemetry/api'
import type { HoldFact } from '../../index.ts'
import { isKept, toTraceparent } from './traceparent.ts'

/**
 * The largest number of entries in `#ended`. Ended holds stay there, because a waiter often looks
 * for the span of its holder shortly after the end of the hold.
 */
const MOST_ENDED = 1_000

/**
 * The sampled spans of the holds of this process. Waiters in this process find the spans here.
 * Waiters in other processes read a span from the note of the owner. A note is a line of text that
 * a client stores in Redis about an owner.
 */
export class HeldSpans {
  readonly #held = new Map<string, SpanContext>()
  readonly #ended = new Map<string, SpanContext>()
  /**
   * The spans of the holds of each owner. An owner has one note for all of its locks, with the span
   * of its latest hold. When this hold ends, the note gets the span of the previous hold.
   */
  readonly #byOwner = new Map<string, Map<HoldFact, SpanContext>>()

  holdStarted(fact: HoldFact, span: SpanContext): void {
    if (!isKept(span)) return
    const { name, owner, notes } = fact
    this.#held.set(keyOf(name, owner), span)
    const own = this.#byOwner.get(owner) ?? new Map()
    this.#byOwner.set(owner, own.set(fact, span))
    notes?.set(owner, toTraceparent(span))
  }

  holdEnded(fact: HoldFact): void {
    const { name, owner, notes } = fact
    const key = keyOf(name, owner)
    const own = this.#byOwner.get(owner)
    const span = own?.get(fact)
    if (own === undefined || span === undefined) return
    if (this.#held.get(key) === span) this.#held.delete(key)
    this.#remember(key, span)
    this.#remember(keyOf(name), span)
    own.delete(fact)
    const latest = [...own.values()].at(-1)
    if (latest === undefined) this.#byOwner.delete(owner)
    notes?.set(owner, latest && toTraceparent(latest))
  }

  /**
   * Returns the span of a hold; undefined if the span is unknown.
   *
   * @param name the name of the lock
   * @param holder the owner of the hold as `<clientId>:<owner>`. If undefined, the method finds the
   * hold of this lock that ended last
   */
  find(name: string, holder?: string): SpanContext | undefined {
    const key = keyOf(name, holder)
    return this.#held.get(key) ?? this.#ended.get(key)
  }

  #remember(key: string, span: SpanContext): void {
    this.#ended.delete(key)
    this.#ended.set(key, span)
    const [oldest] = this.#ended.keys()
    if (this.#ended.size > MOST_ENDED && oldest !== undefined) this.#ended.delete(oldest)
  }

  /** Forgets all spans, and removes the notes of all holds that have not ended. */
  clear(): void {
    for (const own of this.#byOwner.values()) {
      for (const { notes, owner } of own.keys()) notes?.set(owner, undefined)
    }
    this.#byOwner.clear()
    this.#held.clear()
    this.#ended.clear()
  }
}

function keyOf(name: string, holder = ''): string {
  return `${holder} ${name}`
}
