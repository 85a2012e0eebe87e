import type { Words } from '../../errors.ts'
import { BackgroundTasks } from '../../kit/background-tasks.ts'
import { outsideFrames } from '../../kit/frame-storage.ts'
import { within } from '../../kit/within.ts'
import { closedError } from '../../local/closed-errors.ts'
import type { WaitingEntry } from '../../local/holdings.ts'
import { finite } from '../../local/list-holdings.ts'
import type { BarrierFacts, RemoteBarrier } from '../../servers/barrier-server.ts'
import type { Limits } from '../../waiting/limits.ts'
import { RetryBudget } from '../../waiting/retry-budget.ts'
import type { PartyOptions } from './await-arguments.ts'
import { Party } from './party.ts'

/**
 * The client stores at most this many ids of ended arrivals for one barrier. It stores such ids for
 * at most this many barriers.
 */
const MOST_ANSWERED = 100

const WORDS: Words = { noun: 'Barrier', unavailable: 'It is unknown if all parties have arrived.' }

/** All calls of one client that await a cyclic barrier. */
export class Barriers {
  readonly #clientId: string
  readonly #leaseMs: number
  readonly #limits: Limits
  readonly #parties = new Set<Party>()
  readonly #leaving = new BackgroundTasks()
  /**
   * The ids of ended arrivals, by barrier name. The next call for the same barrier sends these ids,
   * so that the server can forget the arrivals.
   */
  readonly #answered = new Map<string, string[]>()
  #count = 0
  #closed = false

  constructor(clientId: string, leaseMs: number, limits: Limits) {
    this.#clientId = clientId
    this.#leaseMs = leaseMs
    this.#limits = limits
  }

  async await(name: string, remote: RemoteBarrier, options: PartyOptions): Promise<boolean> {
    this.#assertOpen(name)
    options.signal?.throwIfAborted()
    this.#count += 1
    const answered = this.#answered.get(name) ?? []
    this.#answered.delete(name)
    const newBudget = (waitMs: number) =>
      new RetryBudget(name, this.#limits, undefined, WORDS, waitMs)
    const party = new Party({
      name,
      remote,
      options,
      answered,
      id: `${this.#clientId}:barrier:${this.#count}`,
      leaseMs: this.#leaseMs,
      budget: newBudget,
      leaving: this.#leaving,
    })
    this.#parties.add(party)
    try {
      outsideFrames(() => party.start())
      const passed = await party.promise
      if (party.isAnswered) this.#remember(name, party.id)
      return passed
    } finally {
      this.#parties.delete(party)
    }
  }

  async inspect(name: string, remote: RemoteBarrier): Promise<BarrierFacts> {
    this.#assertOpen(name)
    const budget = new RetryBudget(name, this.#limits, undefined, WORDS)
    return budget.retry(
      (callMs) => remote.inspect(callMs),
      () => 'not inspected',
    )
  }

  get waiting(): WaitingEntry[] {
    const now = this.#limits.clock.monotonic()
    return [...this.#parties].map(({ name, id, beganAt, waitMs }) => ({
      name,
      kind: 'barrier',
      owner: id,
      waitedMs: Math.round(now - beganAt),
      waitMs: finite(waitMs),
      holder: null,
    }))
  }

  /**
   * Rejects all waiting calls. Resolves when their parties have left, at the latest after
   * `commandTimeoutMs` plus 50 ms.
   */
  async shutDown(): Promise<void> {
    this.#closed = true
    for (const party of [...this.#parties]) party.reject(closedError())
    await within(this.#limits.commandTimeoutMs + 50, this.#leaving.quiet())
  }

  #remember(name: string, id: string): void {
    const ids = this.#answered.get(name) ?? []
    if (ids.length < MOST_ANSWERED) this.#answered.set(name, [...ids, id])
    // The server forgets each outcome after some time, so the client may drop the ids of one
    // barrier.
    const [first] = this.#answered.keys()
    if (this.#answered.size > MOST_ANSWERED && first !== undefined) this.#answered.delete(first)
  }

  #assertOpen(name: string): void {
    if (this.#closed) throw closedError(name)
  }
}
