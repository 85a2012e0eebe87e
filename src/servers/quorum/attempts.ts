import { BackgroundTasks } from '../../kit/background-tasks.ts'
import type { Released } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import { PendingReleases } from '../pending-releases.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import type { LoweredHold } from '../requests.ts'
import type { MasterSettings } from './master-settings.ts'

/** The requests with one owner id to this master. All times are on `performance.now()`. */
interface AttemptState {
  /** Latest time at which an unanswered request may still acquire the lock; 0 means never. */
  doubtUntilMs: number
  /** True if a request of the owner id was granted, or has an unknown outcome. */
  mayHaveIt: boolean
  /** The number of acquisitions under way. */
  pending: number
  /** The number of the last sent acquisition, over all owner ids; 0 means that none was sent. */
  sent: number
  whenAnswered: (() => void)[] | undefined
  /** The number of releases under way. */
  endings: number
  /** When the last answered release was sent; -1 means that no release was answered. */
  endedAtMs: number
  /** The keys of the lock to release. Set when the owner id is abandoned, or its hold has ended. */
  abandoned: LockKeys | undefined
  /** Earliest time of the background release; 0 means at once. */
  fromMs: number
}

/** The pause before the first repeat of a release without an answer, in milliseconds. */
const PAUSE_MS = 50

interface AttemptServer {
  readonly everUp: boolean
  readonly lateAtMostMs: number
  readonly whyDown: CallFailure | undefined
  onUp(onUp: () => void): () => void
}

type Release = (keys: LockKeys, ending: LoweredHold) => Promise<Released>

/** The owner ids of one client that hold, or may hold, locks on one master. */
export class Attempts {
  readonly #server: AttemptServer
  readonly #lower: Release
  readonly #restMs: number
  readonly #attempts = new Map<string, AttemptState>()
  readonly #releases = new BackgroundTasks()
  readonly #pending: PendingReleases
  readonly #callMs: number
  readonly #ignoreUps: () => void
  #sends = 0

  /** @param lower asks the master to lower a hold count, or to end the hold of an owner id */
  constructor(server: AttemptServer, lower: Release, { callMs, restMs, label }: MasterSettings) {
    this.#server = server
    this.#lower = lower
    this.#restMs = restMs
    this.#callMs = callMs
    this.#pending = new PendingReleases(callMs, label)
    this.#ignoreUps = server.onUp(() => this.#pending.tryNow())
  }

  /**
   * Runs `send`, which requests the lock for the owner id. Remembers the owner id while it may hold
   * the lock on this master.
   *
   * @param send sends the requests, and calls `onSend` when the last request is sent, or later
   */
  track<A extends { readonly kind: string }>(
    owner: string,
    timeoutMs: number,
    send: (onSend: () => void) => Promise<A>,
  ): Promise<A> {
    const { everUp, lateAtMostMs } = this.#server
    const askedAt = performance.now()
    const known = this.#attempts.get(owner)
    const attempt: AttemptState = known ?? {
      doubtUntilMs: 0,
      mayHaveIt: false,
      pending: 0,
      sent: 0,
      whenAnswered: undefined,
      endings: 0,
      endedAtMs: -1,
      abandoned: undefined,
      fromMs: 0,
    }
    if (known === undefined) this.#attempts.set(owner, attempt)
    attempt.pending += 1
    const settled = (mayHaveIt: boolean) => {
      attempt.mayHaveIt ||= mayHaveIt
      attempt.pending -= 1
      if (attempt.pending > 0) return
      if (!attempt.mayHaveIt && this.#attempts.get(owner) === attempt) this.#attempts.delete(owner)
      if (attempt.whenAnswered !== undefined) {
        for (const resolve of attempt.whenAnswered.splice(0)) resolve()
      }
      if (attempt.abandoned !== undefined) this.#retireIfDone(owner, attempt)
    }
    const onSend = () => {
      this.#sends += 1
      attempt.sent = this.#sends
    }
    return send(onSend).then(
      (grant) => {
        this.#pending.answered()
        settled(grant.kind === 'granted')
        return grant
      },
      (failure: CallFailure) => {
        const isUnknown = failure.kind === 'unknown'
        if (isUnknown) {
          // If the server was never connected, the request was sent later than `askedAt`.
          // `lateAtMostMs` may have grown since the request was made.
          const latestMs = everUp ? askedAt : performance.now()
          const lateMs = Math.max(lateAtMostMs, this.#server.lateAtMostMs)
          attempt.doubtUntilMs = Math.max(attempt.doubtUntilMs, latestMs + timeoutMs + lateMs)
        }
        settled(isUnknown)
        throw failure
      },
    )
  }

  /** Lowers the hold count; 0 ends the hold. Needs no token, because an owner id has one hold. */
  lower(keys: LockKeys, owner: string, holds: number, timeoutMs: number): Promise<Released> {
    const work =
      holds > 0
        ? this.#free(keys, owner, holds, timeoutMs)
        : this.#releaseAll(keys, owner, timeoutMs)
    this.#releases.count(work)
    return work
  }

  /** Resolves when no acquisition of this owner id is under way. */
  async answered(owner: string): Promise<void> {
    const attempt = this.#attempts.get(owner)
    while (attempt !== undefined && attempt.pending > 0) {
      await new Promise<void>((resolve) => {
        attempt.whenAnswered ??= []
        attempt.whenAnswered.push(resolve)
      })
    }
  }

  /**
   * Gives up the owner id. If the owner id may hold the lock, or may still get it, a release is
   * repeated in the background until the master confirms it.
   *
   * @param fromMs earliest time of the release, on `performance.now()`; 0 means at once
   */
  abandon(keys: LockKeys, owner: string, fromMs = 0): void {
    const attempt = this.#attempts.get(owner)
    if (attempt === undefined) return
    if (attempt.abandoned === undefined) attempt.fromMs = fromMs
    attempt.abandoned = keys
    if (attempt.pending > 0 && attempt.endings === 0 && fromMs === 0) {
      // The release is sent at once, directly after the acquisition. If it fails, another release
      // follows later.
      this.lower(keys, owner, 0, this.#callMs).catch(() => {})
    } else {
      if (attempt.pending > 0) this.#releases.count(this.answered(owner))
      this.#retireIfDone(owner, attempt)
    }
  }

  /**
   * Counts a request, such as a hand-over, that ends the hold of the owner id.
   *
   * @returns a function to call when the request has settled: with the time at which it was sent,
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
    const isWorthIt = () => this.#server.whyDown === undefined || isNeeded()
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

  async #releaseAll(keys: LockKeys, owner: string, timeoutMs: number): Promise<Released> {
    const attempt = this.#attempts.get(owner)
    if (attempt !== undefined) attempt.endings += 1
    const sentAt = performance.now()
    const sends = this.#sends
    try {
      const released = await this.#free(keys, owner, 0, timeoutMs)
      if (attempt !== undefined && attempt.pending > 0) await this.answered(owner)
      // An acquisition was sent after the release, so a second release follows.
      if (attempt !== undefined && attempt.sent > sends && this.#attempts.has(owner)) {
        await this.#free(keys, owner, 0, timeoutMs)
      }
      if (attempt !== undefined) this.#endingDone(keys, owner, attempt, sentAt)
      return released
    } catch (failure) {
      if (attempt !== undefined) this.#endingDone(keys, owner, attempt)
      throw failure
    }
  }

  #endingDone(keys: LockKeys, owner: string, attempt: AttemptState, sentAtMs?: number): void {
    attempt.endings -= 1
    let fromMs = attempt.doubtUntilMs
    if (sentAtMs === undefined) fromMs = performance.now() + PAUSE_MS
    else {
      attempt.endedAtMs = Math.max(attempt.endedAtMs, sentAtMs)
      attempt.abandoned = keys
    }
    this.#retireIfDone(owner, attempt, fromMs)
  }

  /** Forgets an owner id without requests under way. Releases each hold that it may still have. */
  #retireIfDone(owner: string, attempt: AttemptState, leastFromMs = 0): void {
    const { abandoned: keys, pending, endings, doubtUntilMs, endedAtMs } = attempt
    if (keys === undefined || pending > 0 || endings > 0) return
    if (this.#attempts.get(owner) !== attempt) return
    this.#attempts.delete(owner)
    if (endedAtMs >= doubtUntilMs) return
    const fromMs = Math.max(attempt.fromMs, leastFromMs)
    const send = (callMs: number) => this.#free(keys, owner, 0, callMs)
    const of = { rawName: keys.lock, owner }
    this.#pending.add({ send, of, untilMs: doubtUntilMs, leaseMs: this.#restMs, fromMs })
  }

  #free(keys: LockKeys, owner: string, holds: number, timeoutMs: number): Promise<Released> {
    const { whyDown } = this.#server
    return whyDown === undefined
      ? this.#lower(keys, { owner, holds, token: '', callMs: timeoutMs })
      : Promise.reject(whyDown)
  }
}
