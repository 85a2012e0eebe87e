import { BackgroundTasks } from '../../../kit/background-tasks.ts'
import type { Released } from '../../answers.ts'
import type { CallFailure } from '../../call-failure.ts'
import { PendingReleases } from '../../pending-releases.ts'
import type { LockKeys } from '../../redis/calls/keys.ts'
import { NO_REPLY, promised, type Reply } from '../../reply.ts'
import { type LoweredHold, wholeRelease } from '../../requests.ts'
import { AttemptRequest, type AttemptServer, OwnerAttempts } from './attempt-request.ts'
import type { MasterSettings } from './master-settings.ts'

/** How long the client waits before it repeats a release without an answer, in milliseconds. */
const PAUSE_MS = 50

type Release = (keys: LockKeys, ending: LoweredHold, reply: Reply<Released>) => void

/** The owner ids of one client that hold, or may hold, locks on one master. */
export class Attempts {
  /** @internal */
  readonly server: AttemptServer
  readonly #lower: Release
  readonly #restMs: number
  readonly #attempts = new Map<string, OwnerAttempts>()
  readonly #releases = new BackgroundTasks()
  readonly #pending: PendingReleases
  readonly #callMs: number
  readonly #ignoreUps: () => void
  #sends = 0

  /** @param lower asks the master to lower a hold count, or to end the hold of an owner id */
  constructor(server: AttemptServer, lower: Release, { callMs, restMs, label }: MasterSettings) {
    this.server = server
    this.#lower = lower
    this.#restMs = restMs
    this.#callMs = callMs
    this.#pending = new PendingReleases(callMs, label)
    this.#ignoreUps = server.onUp(() => this.#pending.tryNow())
  }

  /**
   * Records a request that acquires the lock for the owner id.
   *
   * @returns the reply for the request, which passes the outcome on to `reply`
   */
  track<A extends { readonly kind: string }>(
    owner: string,
    callMs: number,
    reply: Reply<A>,
  ): AttemptRequest<A> {
    let attempt = this.#attempts.get(owner)
    if (attempt === undefined) {
      attempt = new OwnerAttempts()
      this.#attempts.set(owner, attempt)
    }
    return new AttemptRequest(this, owner, attempt, callMs, reply)
  }

  /**
   * Lowers the hold count of an owner id. If the new count is 0, completes the reply only when no
   * acquisition of the owner id is under way.
   */
  lower(keys: LockKeys, ending: LoweredHold, reply: Reply<Released>): void {
    const { owner } = ending
    const attempt = ending.holds > 0 ? undefined : this.#attempts.get(owner)
    const sentAt = performance.now()
    const sends = this.#sends
    const done = (sentAtMs?: number) => {
      if (attempt !== undefined) this.#endingDone(keys, owner, attempt, sentAtMs)
      this.#releases.finished()
    }
    const failed = (failure: CallFailure) => {
      done()
      reply.failed(failure)
    }
    const answered = (released: Released) => {
      // If an acquisition was sent after the release, a second release follows.
      const isOvertaken = attempt !== undefined && attempt.sent > sends && this.#attempts.has(owner)
      const finish = () => {
        done(sentAt)
        reply.answered(released)
      }
      if (isOvertaken) this.#free(keys, ending, { answered: finish, failed })
      else finish()
    }
    this.#releases.started()
    if (attempt !== undefined) attempt.endings += 1
    this.#free(keys, ending, {
      answered: (released) => {
        if (attempt === undefined) answered(released)
        else attempt.whenAnswered(() => answered(released))
      },
      failed,
    })
  }

  /** Resolves when no acquisition of this owner id is under way. */
  answered(owner: string): Promise<void> {
    const attempt = this.#attempts.get(owner)
    if (attempt === undefined) return Promise.resolve()
    return new Promise((resolve) => attempt.whenAnswered(resolve))
  }

  /**
   * Gives up the owner id. If the owner id may have the lock or get it later, repeats a release in
   * the background. The repeats end when the master confirms the release, or when no lease can be
   * left.
   *
   * @param fromMs earliest time of the release, on `performance.now()`; 0 means at once
   */
  abandon(keys: LockKeys, owner: string, fromMs = 0): void {
    const attempt = this.#attempts.get(owner)
    if (attempt === undefined) return
    if (attempt.abandoned === undefined) attempt.fromMs = fromMs
    attempt.abandoned = keys
    if (attempt.pending > 0 && attempt.endings === 0 && fromMs === 0) {
      // Sends the release directly after the acquisition. If this release fails, another follows
      // later.
      this.lower(keys, wholeRelease(owner, this.#callMs), NO_REPLY)
    } else {
      if (attempt.pending > 0) {
        this.#releases.started()
        attempt.whenAnswered(() => this.#releases.finished())
      }
      this.#retireIfDone(owner, attempt)
    }
  }

  /**
   * Counts a hand-over as a release of the owner id that loses the lock.
   *
   * @returns a function to call after the hand-over: with the time at which the request was sent,
   * or without an argument if no answer came
   */
  ending(keys: LockKeys, owner: string): (sentAtMs?: number) => void {
    const attempt = this.#attempts.get(owner)
    if (attempt === undefined) return () => {}
    attempt.endings += 1
    return (sentAtMs) => this.#endingDone(keys, owner, attempt, sentAtMs)
  }

  /**
   * Resolves when no release is under way or pending. While the master is down, waits only if
   * `isNeeded()` is true.
   */
  async quiet(isNeeded = () => false): Promise<void> {
    const isWorthIt = () => this.server.whyDown === undefined || isNeeded()
    while ((!this.#releases.isQuiet || this.#pending.size > 0) && isWorthIt()) {
      await this.#releases.quiet()
      await this.#pending.quiet(isWorthIt)
    }
  }

  /** Stops the releases in the background. */
  stopReleases(): void {
    this.#ignoreUps()
    this.#pending.stopAll()
  }

  /** @internal */
  acquisitionSent(): number {
    this.#sends += 1
    return this.#sends
  }

  /** @internal */
  acquisitionAnswered(): void {
    this.#pending.answered()
  }

  /** @internal */
  acquisitionDone(owner: string, attempt: OwnerAttempts): void {
    if (attempt.pending > 0) return
    if (!attempt.mayHaveIt && this.#attempts.get(owner) === attempt) this.#attempts.delete(owner)
    if (attempt.abandoned !== undefined) this.#retireIfDone(owner, attempt)
    attempt.reportAnswered()
  }

  #endingDone(keys: LockKeys, owner: string, attempt: OwnerAttempts, sentAtMs?: number): void {
    attempt.endings -= 1
    let fromMs = attempt.doubtUntilMs
    if (sentAtMs === undefined) fromMs = performance.now() + PAUSE_MS
    else {
      attempt.endedAtMs = Math.max(attempt.endedAtMs, sentAtMs)
      attempt.abandoned = keys
    }
    this.#retireIfDone(owner, attempt, fromMs)
  }

  /**
   * Forgets an abandoned owner id when no request is under way. If the owner id may still have a
   * hold, the client releases the hold later.
   */
  #retireIfDone(owner: string, attempt: OwnerAttempts, leastFromMs = 0): void {
    const { abandoned: keys, pending, endings, doubtUntilMs, endedAtMs } = attempt
    if (keys === undefined || pending > 0 || endings > 0) return
    if (this.#attempts.get(owner) !== attempt) return
    this.#attempts.delete(owner)
    if (endedAtMs >= doubtUntilMs) return
    const fromMs = Math.max(attempt.fromMs, leastFromMs)
    const send = (callMs: number) =>
      promised<Released>((reply) => this.#free(keys, wholeRelease(owner, callMs), reply))
    const of = { rawName: keys.lock, owner }
    this.#pending.add({ send, of, untilMs: doubtUntilMs, leaseMs: this.#restMs, fromMs })
  }

  #free(keys: LockKeys, ending: LoweredHold, reply: Reply<Released>): void {
    const { whyDown } = this.server
    if (whyDown === undefined) this.#lower(keys, ending, reply)
    else queueMicrotask(() => reply.failed(whyDown))
  }
}
