import { BackgroundTasks } from '../../kit/background-tasks.ts'
import type { Released } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import type { Ending } from '../lock-server.ts'
import { PendingReleases } from '../pending-releases.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import type { MasterSettings } from './master-settings.ts'

/** What was asked for in one name. */
interface Attempt {
  /** Until when a request that was given up could still take the lock, on `performance.now()`. */
  doubtUntilMs: number
  /** Whether the lock was granted in that name, or may be. */
  mayHaveIt: boolean
  /** How many requests in that name are under way, and when the last one was sent, in order. */
  pending: number
  sent: number
  whenAnswered: (() => void)[] | undefined
  /** How many requests are under way that end what the name has, and when the last was sent that did. */
  endings: number
  endedAtMs: number
  /** The lock, once the name is not used any more; and when it may be released. */
  abandoned: LockKeys | undefined
  fromMs: number
}

/** How long to pause before what was not confirmed is released again, in milliseconds. */
const PAUSE_MS = 50

/** What is to be known of the master. */
interface Server {
  readonly everUp: boolean
  readonly lateAtMostMs: number
  readonly whyDown: CallFailure | undefined
  onUp(onUp: () => void): () => void
}

type Release = (keys: LockKeys, ending: Ending) => Promise<Released>

/** In which names one client has locks on one master of several, or may have: each is used once. */
export class Attempts {
  readonly #server: Server
  readonly #release: Release
  readonly #restMs: number
  readonly #attempts = new Map<string, Attempt>()
  readonly #releases = new BackgroundTasks()
  readonly #pending: PendingReleases
  readonly #callMs: number
  readonly #ignoreUps: () => void
  #sends = 0

  /**
   * @param release lowers a count there, or ends what a name has
   */
  constructor(server: Server, release: Release, { callMs, restMs, label }: MasterSettings) {
    this.#server = server
    this.#release = release
    this.#restMs = restMs
    this.#callMs = callMs
    this.#pending = new PendingReleases(callMs, label)
    this.#ignoreUps = server.onUp(() => this.#pending.tryNow())
  }

  /**
   * Remembers the name while the lock may be in it there.
   *
   * @param ask calls `onSend` at its last request, or some time after it
   */
  ask<A extends { readonly kind: string }>(
    owner: string,
    timeoutMs: number,
    ask: (onSend: () => void) => Promise<A>,
  ): Promise<A> {
    const { everUp, lateAtMostMs } = this.#server
    const askedAt = performance.now()
    const known = this.#attempts.get(owner)
    const claim: Attempt = known ?? {
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
    if (known === undefined) this.#attempts.set(owner, claim)
    claim.pending += 1
    const settled = (mayHaveIt: boolean) => {
      claim.mayHaveIt ||= mayHaveIt
      claim.pending -= 1
      if (claim.pending > 0) return
      if (!claim.mayHaveIt && this.#attempts.get(owner) === claim) this.#attempts.delete(owner)
      if (claim.whenAnswered !== undefined) {
        for (const tell of claim.whenAnswered.splice(0)) tell()
      }
      if (claim.abandoned !== undefined) this.#releaseIfOver(owner, claim)
    }
    const onSend = () => {
      this.#sends += 1
      claim.sent = this.#sends
    }
    return ask(onSend).then(
      (grant) => {
        this.#pending.answered()
        settled(grant.kind === 'granted')
        return grant
      },
      (failure: CallFailure) => {
        const isUnknown = failure.kind === 'unknown'
        if (isUnknown) {
          // It has its whole time from when it is connected, and how late it can be is known only then.
          const latestMs = everUp ? askedAt : performance.now()
          const lateMs = Math.max(lateAtMostMs, this.#server.lateAtMostMs)
          claim.doubtUntilMs = Math.max(claim.doubtUntilMs, latestMs + timeoutMs + lateMs)
        }
        settled(isUnknown)
        throw failure
      },
    )
  }

  /**
   * Ends what the name has there, or lowers its count: not by its token, for names are used once.
   */
  release(keys: LockKeys, owner: string, holds: number, timeoutMs: number): Promise<Released> {
    const work =
      holds > 0
        ? this.#free(keys, owner, holds, timeoutMs)
        : this.#releaseAll(keys, owner, timeoutMs)
    this.#releases.count(work)
    return work
  }

  /** Ends when no request in that name is under way. */
  async answered(owner: string): Promise<void> {
    const claim = this.#attempts.get(owner)
    while (claim !== undefined && claim.pending > 0) {
      await new Promise<void>((resolve) => {
        claim.whenAnswered ??= []
        claim.whenAnswered.push(resolve)
      })
    }
  }

  /**
   * The name is not used again: where it may have the lock, or may be granted it yet, that is released,
   * and in the background again until it is confirmed.
   *
   * @param fromMs when to release it, on `performance.now()`; at once where it is left out
   */
  abandon(keys: LockKeys, owner: string, fromMs = 0): void {
    const claim = this.#attempts.get(owner)
    if (claim === undefined) return
    if (claim.abandoned === undefined) claim.fromMs = fromMs
    claim.abandoned = keys
    if (claim.pending > 0 && claim.endings === 0 && fromMs === 0) {
      // Right behind what is asked; once that is answered it is known whether this was enough.
      this.release(keys, owner, 0, this.#callMs).catch(() => {})
    } else {
      if (claim.pending > 0) this.#releases.count(this.answered(owner))
      this.#releaseIfOver(owner, claim)
    }
  }

  /**
   * A request goes out that ends what the name has.
   *
   * @returns to be called with the moment when it was sent, or without one if it was not answered
   */
  ending(keys: LockKeys, owner: string): (sentAtMs?: number) => void {
    const claim = this.#attempts.get(owner)
    if (claim === undefined) return () => {}
    claim.endings += 1
    return (sentAtMs) => this.#ended(keys, owner, claim, sentAtMs)
  }

  /**
   * Ends when no release is under way or pending.
   *
   * @param isNeeded whether it is waited for while it is down
   */
  async quiet(isNeeded = () => false): Promise<void> {
    const isWorthIt = () => this.#server.whyDown === undefined || isNeeded()
    while ((!this.#releases.isQuiet || this.#pending.size > 0) && isWorthIt()) {
      await this.#releases.quiet()
      await this.#pending.quiet(isWorthIt)
    }
  }

  /** Nothing is released in the background any more. */
  close(): void {
    this.#ignoreUps()
    this.#pending.close()
  }

  async #releaseAll(keys: LockKeys, owner: string, timeoutMs: number): Promise<Released> {
    const claim = this.#attempts.get(owner)
    if (claim !== undefined) claim.endings += 1
    const sentAt = performance.now()
    const sends = this.#sends
    try {
      const released = await this.#free(keys, owner, 0, timeoutMs)
      if (claim !== undefined && claim.pending > 0) await this.answered(owner)
      // It may have been asked for behind the release.
      if (claim !== undefined && claim.sent > sends && this.#attempts.has(owner)) {
        await this.#free(keys, owner, 0, timeoutMs)
      }
      if (claim !== undefined) this.#ended(keys, owner, claim, sentAt)
      return released
    } catch (failure) {
      if (claim !== undefined) this.#ended(keys, owner, claim)
      throw failure
    }
  }

  #ended(keys: LockKeys, owner: string, claim: Attempt, sentAtMs?: number): void {
    claim.endings -= 1
    let fromMs = claim.doubtUntilMs
    if (sentAtMs === undefined) fromMs = performance.now() + PAUSE_MS
    else {
      claim.endedAtMs = Math.max(claim.endedAtMs, sentAtMs)
      claim.abandoned = keys
    }
    this.#releaseIfOver(owner, claim, fromMs)
  }

  /** Once nothing in that name is under way, what it may have is released in the background. */
  #releaseIfOver(owner: string, claim: Attempt, leastFromMs = 0): void {
    const { abandoned: keys, pending, endings, doubtUntilMs, endedAtMs } = claim
    if (keys === undefined || pending > 0 || endings > 0) return
    if (this.#attempts.get(owner) !== claim) return
    this.#attempts.delete(owner)
    if (endedAtMs >= doubtUntilMs) return
    const fromMs = Math.max(claim.fromMs, leastFromMs)
    const release = (callMs: number) => this.#free(keys, owner, 0, callMs)
    const of = { key: keys.lock, owner }
    this.#pending.add({ release, of, untilMs: doubtUntilMs, leaseMs: this.#restMs, fromMs })
  }

  #free(keys: LockKeys, owner: string, holds: number, timeoutMs: number): Promise<Released> {
    const { whyDown } = this.#server
    return whyDown === undefined
      ? this.#release(keys, { owner, holds, token: '', callMs: timeoutMs })
      : Promise.reject(whyDown)
  }
}
