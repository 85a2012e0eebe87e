import { InvalidArgumentError, LeaseLostError } from '../../errors.ts'
import type { BackgroundTasks } from '../../kit/background-tasks.ts'
import { show } from '../../kit/show.ts'
import { WakeEvent } from '../../kit/wake-event.ts'
import { validityMs } from '../../lease/validity.ts'
import type { Arrived, RemoteBarrier } from '../../servers/barrier-server.ts'
import { CallFailure } from '../../servers/call-failure.ts'
import { AbortWatch } from '../../waiting/abort-watch.ts'
import { ReleaseListener } from '../../waiting/release-listener.ts'
import type { RetryBudget } from '../../waiting/retry-budget.ts'
import { WaitTimer } from '../../waiting/wait-timer.ts'
import type { PartyOptions } from './await-arguments.ts'

interface PartyTerms {
  readonly name: string
  readonly id: string
  readonly remote: RemoteBarrier
  readonly options: PartyOptions
  readonly leaseMs: number
  /** The ids of ended arrivals. The server forgets an arrival when it receives the id. */
  readonly answered: readonly string[]
  /**
   * Makes a retry budget. `waitMs` is the longest wait in milliseconds; 0 for a call that does not
   * wait.
   */
  budget(waitMs: number): RetryBudget
  readonly leaving: BackgroundTasks
}

/**
 * One call that awaits a barrier. The party arrives, and renews the lease of its arrival. The call
 * settles when the round ends, `waitMs` has passed, the caller aborts, or the requests fail.
 */
export class Party {
  readonly promise: Promise<boolean>
  readonly name: string
  readonly id: string
  readonly waitMs: number
  readonly #terms: PartyTerms
  readonly #budget: RetryBudget
  readonly #wakeEvent: WakeEvent
  readonly #listener: ReleaseListener<number>
  readonly #abort: AbortWatch | undefined
  readonly #timer: WaitTimer
  /**
   * The number of the round in which the server counts this party. Undefined until the server has
   * counted the party.
   */
  #round: number | undefined
  /**
   * The server counts the arrival at least until this time, in milliseconds on the monotonic clock.
   */
  #countsUntil = 0
  #state: 'waits' | 'leaves' | 'settled' = 'waits'
  /**
   * How many arrival requests are in flight or have an unknown outcome. The server may still
   * receive these requests.
   */
  #unanswered = 0
  #resolve!: (passed: boolean) => void
  #reject!: (reason: unknown) => void

  constructor(terms: PartyTerms) {
    const { name, id, options } = terms
    this.#terms = terms
    this.name = name
    this.id = id
    this.waitMs = options.waitMs
    this.#budget = terms.budget(this.waitMs)
    const { clock } = this.#budget
    this.#wakeEvent = new WakeEvent(clock)
    this.#listener = new ReleaseListener({ mayBeFree: (round) => this.#roundEnded(round) })
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#abort = options.signal && new AbortWatch(options.signal, this)
    this.#timer = new WaitTimer(clock, this.waitMs, () => void this.#timeIsUp())
  }

  /** When the call began, on the monotonic clock, in milliseconds. */
  get beganAt(): number {
    return this.#timer.startedAt
  }

  /**
   * True if the call is settled and no late arrival request can reach the server. The server may
   * then forget the arrival.
   */
  get isAnswered(): boolean {
    return this.#state === 'settled' && this.#unanswered === 0
  }

  start(): void {
    void this.#run()
  }

  /**
   * Rejects the call with `reason`. The party then leaves in the background, unless it is leaving
   * already.
   */
  reject(reason: unknown): void {
    if (this.#state === 'settled') return
    const hasLeft = this.#state === 'leaves'
    this.#finish(() => this.#reject(reason))
    if (!hasLeft) this.#stopWaiting().catch(() => undefined)
  }

  async #run(): Promise<void> {
    while (this.#state === 'waits') {
      this.#wakeEvent.reset()
      const pauseMs = await this.#arrive()
      if (this.#state === 'waits') await this.#wakeEvent.wait(pauseMs)
    }
  }

  /**
   * Sends one request, which arrives or renews the arrival. Returns the pause until the next
   * request, in milliseconds.
   */
  async #arrive(): Promise<number> {
    const { id, remote, options, leaseMs } = this.#terms
    const { parties } = options
    const sentAt = this.#budget.clock.monotonic()
    const round: number | '' = this.#round ?? ''
    const answered = round === '' ? this.#terms.answered : []
    // The server runs this request only within `callMs` after its sending, and `callMs` is at most
    // the lease. If a newer request has renewed the arrival, the renewed lease has not ended by then.
    // So a delayed request cannot bring back an expired arrival.
    const callMs = Math.min(this.#budget.callMs, leaseMs)
    this.#unanswered += 1
    try {
      const arrival = { id, parties, leaseMs, round, answered }
      const arrived = await remote.arrive(arrival, callMs)
      this.#unanswered -= 1
      this.#budget.answered(sentAt)
      return this.#learned(arrived, sentAt)
    } catch (error) {
      if (!(error instanceof CallFailure)) {
        this.reject(error)
        return 0
      }
      if (error.kind !== 'unknown') this.#unanswered -= 1
      const pauseMs = this.#budget.failed(error, sentAt)
      if (pauseMs === null) this.reject(this.#budget.error('no longer awaited'))
      return pauseMs ?? 0
    }
  }

  #learned(arrived: Arrived, sentAt: number): number {
    const { remote, leaseMs, options, name } = this.#terms
    if (this.#state !== 'waits') return 0
    if (arrived.kind === 'waiting') {
      this.#round = arrived.round
      this.#countsUntil = sentAt + validityMs(leaseMs)
      const pollMs = this.#listener.listen(remote, Infinity)
      // A confirmed subscription receives each message. So the next request only has to renew the
      // arrival.
      return this.#listener.isConfirmed ? leaseMs / 3 : Math.min(pollMs, leaseMs / 3)
    }
    if (arrived.kind === 'passed') this.#finish(() => this.#resolve(true))
    else if (arrived.kind === 'gone') this.#finish(() => this.#reject(this.#lost()))
    else {
      const text =
        `Barrier ${show(name)}: this call is for ${options.parties} parties, and the present round is for ` +
        `${arrived.parties}. Give the same number in all calls, or wait until the round is over.`
      this.#finish(() => this.#reject(new InvalidArgumentError(text, name)))
    }
    return 0
  }

  #lost(): LeaseLostError {
    const text =
      `Barrier ${show(this.name)}: the client could not renew its arrival for ${this.#terms.leaseMs} ms, so the ` +
      'arrival does not count, and its round is over. Call await() again to arrive in the present round.'
    return new LeaseLostError(text, this.name, 'expired', this.#round ?? 0)
  }

  /**
   * Handles the message that a round has ended. `round` is undefined if messages may have been
   * lost.
   */
  #roundEnded(round?: number): void {
    if (this.#state !== 'waits') return
    const isOwnRound = round !== undefined && round === this.#round
    // The lease of the arrival was valid when the round ended, so the round included this party.
    if (isOwnRound && this.#budget.clock.monotonic() < this.#countsUntil) {
      this.#finish(() => this.#resolve(true))
    } else if (round === undefined || isOwnRound) this.#wakeEvent.set()
  }

  #finish(deliver: () => void): void {
    if (this.#state === 'settled') return
    this.#state = 'settled'
    this.#timer.stop()
    this.#abort?.stop()
    this.#listener.stopListening()
    this.#wakeEvent.set()
    deliver()
  }

  /**
   * Called at the end of `waitMs`. The party leaves. If its round had already ended, the call
   * resolves with true, otherwise with false. If the server does not answer, the call rejects.
   */
  async #timeIsUp(): Promise<void> {
    if (this.#state !== 'waits') return
    this.#state = 'leaves'
    this.#wakeEvent.set()
    try {
      const outcome = await this.#stopWaiting()
      this.#finish(() => this.#resolve(outcome === 'passed'))
    } catch (error) {
      this.#finish(() => this.#reject(error))
    }
  }

  /**
   * Asks the server to remove the arrival. Repeats failed requests for at most `outageMs`. If no
   * request reaches the server, the arrival expires with its lease.
   */
  #stopWaiting(): Promise<'left' | 'passed'> {
    const { remote, id, budget } = this.#terms
    const send = (callMs: number) => remote.withdraw(id, callMs)
    const stopped = budget(0).retry(send, () => 'it is unknown if this call was counted')
    this.#terms.leaving.count(stopped)
    return stopped
  }
}
