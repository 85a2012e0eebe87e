import { BackgroundTasks } from '../../kit/background-tasks.ts'
import type { Released } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import type { Ending } from '../lock-server.ts'
import type { LockKeys } from '../redis/keys.ts'
import { OwedReleases } from './owed-releases.ts'

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
}

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
  readonly #owed: OwedReleases
  readonly #ignoreUps: () => void
  #sends = 0

  /**
   * @param release lowers a count there, or ends what a name has
   * @param callMs how long one release may take, in milliseconds
   * @param restMs how long the longest lease may be, in milliseconds
   */
  constructor(server: Server, release: Release, callMs: number, restMs: number) {
    this.#server = server
    this.#release = release
    this.#restMs = restMs
    this.#owed = new OwedReleases(({ keys, owner }) => this.#free(keys, owner, 0, callMs))
    this.#ignoreUps = server.onUp(() => this.#owed.tryNow())
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
    }
    if (known === undefined) this.#attempts.set(owner, claim)
    claim.pending += 1
    const settled = (mayHaveIt: boolean) => {
      claim.mayHaveIt ||= mayHaveIt
      claim.pending -= 1
      if (claim.pending > 0) return
      if (!claim.mayHaveIt && this.#attempts.get(owner) === claim) this.#attempts.delete(owner)
      if (claim.whenAnswered === undefined) return
      for (const tell of claim.whenAnswered.splice(0)) tell()
    }
    const onSend = () => {
      this.#sends += 1
      claim.sent = this.#sends
    }
    return ask(onSend).then(
      (grant) => {
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
   * The name is not used again: where it may have the lock, that is released in the background.
   *
   * @param releasedAtMs when the request was sent that ended what it had, if there was one
   */
  abandon(keys: LockKeys, owner: string, releasedAtMs = -1): void {
    const claim = this.#attempts.get(owner)
    if (claim === undefined) return
    if (claim.pending > 0) {
      // It may be granted, or be lost and granted later: until when is known then.
      this.#releases.count(this.answered(owner).then(() => this.abandon(keys, owner, releasedAtMs)))
      return
    }
    this.#attempts.delete(owner)
    const { doubtUntilMs } = claim
    if (releasedAtMs >= doubtUntilMs) return
    const endsAtMs = Math.max(doubtUntilMs, performance.now()) + this.#restMs
    this.#owed.add({ keys, owner, doubtUntilMs, endsAtMs })
  }

  /** Ends when no release is under way or owed; nobody waits for a master that is down. */
  async quiet(): Promise<void> {
    const isQuiet = () => this.#releases.isQuiet && this.#owed.size === 0
    while (!isQuiet() && this.#server.whyDown === undefined) {
      await this.#releases.quiet()
      if (this.#owed.size > 0) await this.#owed.hurry()
    }
  }

  /** Nothing is released in the background any more. */
  close(): void {
    this.#ignoreUps()
    this.#owed.close()
  }

  async #releaseAll(keys: LockKeys, owner: string, timeoutMs: number): Promise<Released> {
    const sentAt = performance.now()
    const sends = this.#sends
    try {
      let released = await this.#free(keys, owner, 0, timeoutMs)
      if (released.kind === 'gone' && (await this.#owed.hasFreed(owner))) {
        released = { kind: 'freed', listeners: 0 }
      }
      const claim = this.#attempts.get(owner)
      if (claim !== undefined && claim.pending > 0) await this.answered(owner)
      // It may have been asked for behind the release.
      if (claim !== undefined && claim.sent > sends && this.#attempts.has(owner)) {
        await this.#free(keys, owner, 0, timeoutMs)
      }
      this.abandon(keys, owner, sentAt)
      return released
    } catch (failure) {
      await this.answered(owner)
      this.abandon(keys, owner)
      throw failure
    }
  }

  #free(keys: LockKeys, owner: string, holds: number, timeoutMs: number): Promise<Released> {
    const { whyDown } = this.#server
    return whyDown === undefined
      ? this.#release(keys, { owner, holds, token: '', callMs: timeoutMs })
      : Promise.reject(whyDown)
  }
}
