import type { Grant, Released } from './answers.ts'
import { Debts } from './debts.ts'
import type { CallFailure } from './failure.ts'
import type { LockKeys } from './keys.ts'
import type { LockNode } from './lock-node.ts'

/** In which names one client has locks on one master of several, or may have: each is used once. */
export class Claims {
  readonly #node: LockNode
  readonly #restMs: number
  /** Until when a delayed request in that name could still take the lock. */
  readonly #names = new Map<string, number>()
  readonly #releases = new Set<Promise<unknown>>()
  readonly #debts: Debts
  readonly #ignoreUps: () => void
  #closed = false

  /**
   * @param callMs how long one release may take, in milliseconds
   * @param restMs how long the longest lease may be, in milliseconds
   */
  constructor(node: LockNode, callMs: number, restMs: number) {
    this.#node = node
    this.#restMs = restMs
    this.#debts = new Debts(({ keys, owner }) =>
      node.whyDown === undefined
        ? this.#free(keys, owner, 0, callMs)
        : Promise.reject(node.whyDown),
    )
    this.#ignoreUps = node.onUp(() => this.#debts.tryNow())
  }

  /** Remembers the name while the lock may be in it there. */
  async claim(
    keys: LockKeys,
    owner: string,
    timeoutMs: number,
    ask: () => Promise<Grant>,
  ): Promise<Grant> {
    const before = this.#names.get(owner)
    this.#names.set(owner, performance.now() + timeoutMs + this.#node.lateAtMostMs)
    let mayHaveIt = false
    try {
      const grant = await ask()
      if (grant.kind === 'granted') {
        this.#names.set(owner, before ?? 0)
        mayHaveIt = true
        // The node of another client may be asked after this one was closed.
        if (this.#closed) this.#free(keys, owner, 0, timeoutMs).catch(() => {})
      }
      return grant
    } catch (failure) {
      mayHaveIt = (failure as CallFailure).kind === 'unknown'
      throw failure
    } finally {
      if (!mayHaveIt) this.#forget(owner, before)
    }
  }

  /** Ends what the name has there, or lowers its count: not by its token, for names are used once. */
  async release(
    keys: LockKeys,
    owner: string,
    holds: number,
    timeoutMs: number,
  ): Promise<Released> {
    const sentAt = performance.now()
    try {
      const released = await this.#free(keys, owner, holds, timeoutMs)
      if (holds === 0) {
        if (sentAt < (this.#names.get(owner) ?? 0)) this.owes(keys, owner)
        else this.#names.delete(owner)
      }
      return released
    } catch (failure) {
      if (holds === 0) this.owes(keys, owner)
      throw failure
    }
  }

  /** The lock passed on from that name. */
  passed(owner: string): void {
    this.#names.delete(owner)
  }

  /** The name is not used again: where the lock may be in it, it is released in the background. */
  owes(keys: LockKeys, owner: string): void {
    const doubtUntilMs = this.#names.get(owner)
    if (doubtUntilMs === undefined) return
    this.#names.delete(owner)
    const endsAtMs = Math.max(doubtUntilMs, performance.now()) + this.#restMs
    this.#debts.add({ keys, owner, doubtUntilMs, endsAtMs })
  }

  /** Ends when no release is under way or owed; nobody waits for a master that is down. */
  async quiet(): Promise<void> {
    while (this.#releases.size + this.#debts.size > 0 && this.#node.whyDown === undefined) {
      await Promise.all(this.#releases)
      if (this.#debts.size > 0) await this.#debts.hurry()
    }
  }

  /** Nothing is released in the background any more. */
  close(): void {
    this.#closed = true
    this.#ignoreUps()
    this.#debts.close()
  }

  #forget(owner: string, before: number | undefined): void {
    if (before === undefined) this.#names.delete(owner)
    else this.#names.set(owner, before)
  }

  #free(keys: LockKeys, owner: string, holds: number, timeoutMs: number): Promise<Released> {
    const release = this.#node.release(keys, owner, holds, '', timeoutMs)
    const done = release.catch(() => {}).finally(() => this.#releases.delete(done))
    this.#releases.add(done)
    return release
  }
}
