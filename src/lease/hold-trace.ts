import { type HoldFact, type HoldOutcome, holdTrace, tellEnd } from '../diagnostics.ts'
import type { Clock } from '../kit/clock.ts'

/** One hold as it is told of: from when its caller has it until it is known what became of it. */
export class HoldTrace {
  readonly #fact: HoldFact
  readonly #clock: Clock
  readonly #beganAt: number

  constructor(fact: HoldFact, clock: Clock) {
    this.#fact = fact
    this.#clock = clock
    this.#beganAt = clock.monotonic()
    holdTrace.start.publish(fact)
    holdTrace.end.publish(fact)
  }

  /** Its holder has let it go, which is to be confirmed. */
  letGo(): void {
    this.#fact.heldMs ??= this.#clock.monotonic() - this.#beganAt
  }

  /** Later ends are none. */
  ended(outcome: HoldOutcome, error?: unknown, stalledMs?: number): void {
    const fact = this.#fact
    if (fact.outcome !== undefined) return
    this.letGo()
    fact.outcome = outcome
    if (error !== undefined) fact.error = error
    if (stalledMs !== undefined) fact.stalledMs = stalledMs
    tellEnd(holdTrace, fact)
  }
}
