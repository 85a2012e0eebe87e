// A caller that uses plain, fair and multi locks in every way.
import { setTimeout as pause } from 'node:timers/promises'
import { entriesOf } from '../work.mjs'
import { BaseCaller } from './base.mjs'

export class LockCaller extends BaseCaller {
  /** @param names of the locks; several locks are acquired as one */
  async once(names) {
    const { client, era, random, witness, isQuorum } = this.process
    const all = [...new Set(names)].sort()
    const way = random()
    const isFair = all.map(
      (name) => !isQuorum && (name.includes('fair') || (name.includes('mixed') && random() < 0.5)),
    )
    // Some attempts have an explicit owner, because `#lookForPlace` finds a place by the name of its owner.
    const owner = all.length === 1 && way < 0.5 ? client.owner() : undefined
    const locks = all.map((name, i) => {
      const key = this.work.keyOf(name)
      return isFair[i] ? client.getFairLock(key, { owner }) : client.getLock(key, { owner })
    })
    const isOwn = names[0].startsWith('own-')
    const meant = this.acquisition(isOwn)
    const kind = all.length > 1 ? 'multi' : isFair[0] ? 'fair' : 'plain'
    const said = { lockKind: kind, waits: meant.waitMs !== undefined, caller: this.number, era }
    const ids = new Map()
    for (const name of all) ids.set(name, await witness.ask(name, said))
    const lock = locks.length > 1 ? client.getMultiLock(...locks) : locks[0]
    const attempt = {
      ...{ name: lock.name, lock, meant, said, ids: [...ids.values()], idOf: ids },
      ...{ entries: [], result: 'rejected', isSettled: false, ms: this.workMs(isOwn) },
    }
    if (kind === 'fair' && said.waits && owner !== undefined) {
      void this.#lookForPlace(attempt, `${client.id}:${owner.id}`)
    }
    await this.settled(attempt, async () => {
      if (way < 0.3) await this.#using(attempt)
      else if (way > 0.85) await client.run(() => this.#bare(attempt, true))
      else await this.#bare(attempt, false)
    })
  }

  #granted(attempt, lease) {
    this.granted(attempt, entriesOf(lease, attempt.idOf, this.work.nameOf))
  }

  async #using(attempt) {
    let lease
    try {
      await attempt.lock.tryUsing(async (got) => {
        lease = got
        this.#granted(attempt, got)
        await this.work.under(attempt.entries, attempt.ms, true)
      }, attempt.meant)
    } finally {
      if (lease !== undefined) await this.work.released(lease, attempt.entries)
    }
    if (lease === undefined) this.refused(attempt)
  }

  async #bare(attempt, mayReenter) {
    const { random, violation } = this.process
    const { lock, meant, ms } = attempt
    const lease = await lock.tryLock(meant)
    if (lease === null) {
      this.refused(attempt)
      return
    }
    this.#granted(attempt, lease)
    if (mayReenter) this.work.settled(attempt.entries, 1)
    const inner = mayReenter && lease.valid ? await this.#again(attempt, lease) : undefined
    // This holder behaves like a crashed process: the lease must end the hold.
    const isAbandoned = meant.leaseMs !== undefined && inner === undefined && random() < 0.01
    await this.work.under(attempt.entries, ms, !isAbandoned)
    if (isAbandoned) return
    await Promise.all([this.work.released(lease, attempt.entries), inner?.release()])
    if (lease.valid) violation(`${lock.name}: valid after its release`)
  }

  /**
   * Re-enters the lock in a frame of `run`.
   *
   * @returns a function that releases the re-entry
   */
  async #again({ lock, idOf: outer, said }, lease) {
    const { witness, heard, violation } = this.process
    const ids = new Map()
    for (const [name, within] of outer) ids.set(name, await witness.ask(name, { ...said, within }))
    let result = 'rejected'
    let inner = null
    try {
      inner = await lock.tryLock({ waitMs: 2_000 })
      if (inner === null) {
        result = 'refused'
        if (lease.valid) violation(`${lock.name}: its holder was not let in again`)
        return undefined
      }
      if (inner.token !== lease.token && lease.valid) {
        violation(`${lock.name}: re-entered under ${inner.token} while ${lease.token} is valid`)
      }
    } catch (error) {
      heard(error, {})
      return undefined
    } finally {
      if (inner === null) for (const id of ids.values()) void witness.tell('settle', id, { result })
    }
    const entries = entriesOf(inner, ids, this.work.nameOf)
    this.work.settled(entries, 2)
    return {
      release: async () => {
        await Promise.all(entries.map(({ id }) => witness.tell('releasing', id)))
        await this.work.released(inner, entries)
      },
    }
  }

  /** Reports the time at which the place is visible in the queue in Redis. */
  async #lookForPlace(attempt, owner) {
    await pause(1)
    if (attempt.isSettled) return
    const { queue } = await attempt.lock.inspect().catch(() => ({ queue: [] }))
    const isOwn = (name) => name === owner || /^[./]/.test(name.slice(owner.length))
    const isThere = queue.some((one) => one.owner.startsWith(owner) && isOwn(one.owner))
    if (attempt.isSettled || !isThere) return
    const [id] = attempt.ids
    void this.process.witness.tell('queued', id)
  }
}
