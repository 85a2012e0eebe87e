import type { Grant, Released, Seat } from './answers.ts'
import { CallFailure } from './failure.ts'
import { type LockKeys, lockKeys } from './keys.ts'
import type { LockNode } from './lock-node.ts'
import * as scripts from './scripts.generated.ts'

/** The key that tells since when a master may vote, and as which process of the server. */
export const BIRTH = 'holdfast_birth'

/** One master of several: a node that votes, and may have forgotten what it voted for. */
export class Master {
  readonly node: LockNode
  /** How it is named in errors. */
  readonly label: string
  readonly #counterMs: number
  readonly #restMs: number
  readonly #isNewDeployment: () => Promise<boolean>
  readonly #underWay = new Set<Promise<unknown>>()

  /**
   * @param restMs how long the longest lease may be: a master that may have forgotten rests so long
   * @param isNewDeployment whether none of the masters has ever been used
   */
  constructor(
    node: LockNode,
    label: string,
    { counterMs, restMs }: { counterMs: number; restMs: number },
    isNewDeployment: () => Promise<boolean>,
  ) {
    this.node = node
    this.label = label
    this.#counterMs = counterMs
    this.#restMs = restMs
    this.#isNewDeployment = isNewDeployment
  }

  /** Asks for its vote; where it does not know since when it has one, it is told. */
  async acquire(
    keys: LockKeys,
    owner: string,
    leaseMs: number,
    holds: number,
    timeoutMs: number,
  ): Promise<Exclude<Grant, { kind: 'forgot' }>> {
    const endsAt = performance.now() + timeoutMs
    const leftMs = () => endsAt - performance.now()
    let grant = await this.node.acquire(keys, owner, leaseMs, holds, timeoutMs)
    if (grant.kind === 'forgot' && grant.sinceUs === null) {
      await this.enrol(await this.#isNewDeployment(), timeoutMs)
      if (leftMs() < 1) throw new CallFailure('unsent', 'it was only told since when it votes')
      grant = await this.node.acquire(keys, owner, leaseMs, holds, leftMs())
    }
    if (grant.kind !== 'forgot') return grant
    throw new CallFailure(
      'unsent',
      'it was started or emptied not long ago and may have forgotten leases; it votes again when the longest lease has passed',
    )
  }

  /** What it would be of no use to wait for: one that cannot be reached fails at once. */
  ask<T>(call: () => Promise<T>): Promise<T> {
    const { whyDown } = this.node
    return whyDown === undefined ? call() : Promise.reject(whyDown)
  }

  /** Ends what the name has there, or lowers its count: not by its token, for names are used once. */
  release(keys: LockKeys, owner: string, holds: number, timeoutMs: number): Promise<Released> {
    return this.seenTo(this.node.release(keys, owner, holds, '', timeoutMs))
  }

  /** What it is asked is waited for at the end: a vote, for it may have to be given back. */
  seenTo<T>(call: Promise<T>): Promise<T> {
    const done = call.catch(() => {}).finally(() => this.#underWay.delete(done))
    this.#underWay.add(done)
    return call
  }

  /** Ends when no vote is due and no release is under way; nobody waits for a master that is down. */
  async quiet(): Promise<void> {
    while (this.#underWay.size > 0 && this.node.whyDown === undefined) {
      await Promise.all(this.#underWay)
      // A vote that came late is given back first.
      await new Promise(setImmediate)
    }
  }

  /** @returns whether it has no mark of ever having voted */
  async isUnused(timeoutMs: number): Promise<boolean> {
    return (await this.node.raw(timeoutMs, (client) => client.get(BIRTH))) === null
  }

  /** @returns whether the owner has the lock there, and the counter is not below the token */
  async agree(keys: LockKeys, owner: string, token: number, timeoutMs: number): Promise<boolean> {
    const args = () => [owner, token, this.#counterMs]
    const both = [keys.lock, keys.counter]
    return Number(await this.node.calls.run(scripts.agree, both, args, timeoutMs)) === 1
  }

  /** Gives it a lock back that a majority has confirmed. */
  async restore(seat: Seat, leaseMs: number, timeoutMs: number): Promise<void> {
    const { lock, counter } = lockKeys(seat.key)
    const args = (notAfterUs: number) => [
      seat.wireOwner,
      seat.holds ?? 1,
      leaseMs,
      seat.token ?? 0,
      notAfterUs,
      this.#counterMs,
    ]
    await this.node.calls.timed(scripts.restore, [lock, counter], args, timeoutMs)
  }

  /**
   * Tells it since when it votes, unless it has been told.
   *
   * @param newborn whether none of the masters has ever been used
   */
  async enrol(newborn: boolean, timeoutMs: number): Promise<void> {
    const durable = await this.node.raw(timeoutMs, async (client) => {
      const [info, config] = await Promise.all([
        client.info('persistence'),
        client.config('GET', 'appendfsync').catch(() => []),
      ])
      return /aof_enabled:1/.test(info) && (config as unknown[]).flat().includes('always')
    })
    const args = () => [this.node.calls.runId, this.#restMs, durable ? 1 : 0, newborn ? 1 : 0]
    await this.node.calls.run(scripts.enrol, [BIRTH], args, timeoutMs)
  }
}
