// One of the many in a client process who use locks, in every way that there is, and tell the witness.
import { setTimeout as pause } from 'node:timers/promises'
import { now, pickWeighted } from './random.mjs'
import { entriesOf, Work } from './work.mjs'

export class Caller {
  #process
  #number
  #work

  /** @param process what client.mjs is: its client and era now, its settings, its witness, its tally */
  constructor(process, number) {
    this.#process = process
    this.#number = number
    this.#work = new Work(process)
  }

  /** @param names of the locks that it wants, to be had together */
  async once(names) {
    const { client, era, random, witness, options, heard, isQuorum, broken } = this.#process
    const all = [...new Set(names)].sort()
    const way = random()
    const isFair = all.map(
      (name) => !isQuorum && (name.includes('fair') || (name.includes('mixed') && random() < 0.5)),
    )
    // Its place in the queue goes by the name of its owner.
    const owner = all.length === 1 && way < 0.5 ? client.owner() : undefined
    const locks = all.map((name, i) => {
      const key = this.#work.keyOf(name)
      return isFair[i] ? client.getFairLock(key, { owner }) : client.getLock(key, { owner })
    })
    const isOwn = names[0].startsWith('own-')
    const meant = this.#acquisition(isOwn)
    const kind = all.length > 1 ? 'multi' : isFair[0] ? 'fair' : 'plain'
    const said = { lockKind: kind, waits: meant.waitMs !== undefined, caller: this.#number, era }
    const ids = new Map()
    for (const name of all) ids.set(name, await witness.ask(name, said))
    const lock = locks.length > 1 ? client.getMultiLock(...locks) : locks[0]
    const attempt = { lock, meant, ids, said, entries: [], result: 'rejected', isSettled: false }
    attempt.ms = pickWeighted(random, [
      [60, 0],
      [isOwn ? 0 : 30, random() * 5],
      [0.6, random() * 300],
      // Who never looks at a lease is found out by working for longer.
      [broken === 'validity' ? 5 : 0.1, options.leaseMs * (0.5 + random())],
    ])
    const watch = this.#watch(attempt)
    if (kind === 'fair' && said.waits && owner !== undefined) {
      void this.#lookForPlace(attempt, `${client.id}:${owner.id}`)
    }
    try {
      if (way < 0.3) await this.#using(attempt)
      else if (way > 0.85) await client.run(() => this.#bare(attempt, true))
      else await this.#bare(attempt, false)
    } catch (error) {
      if (meant.signal?.aborted && error === meant.signal.reason) attempt.result = 'aborted'
      heard(error, meant)
      await pause(random() * 20)
    } finally {
      attempt.isSettled = true
      clearInterval(watch)
      const had = new Set(attempt.entries.map(({ id }) => id))
      const { result } = attempt
      for (const id of ids.values()) if (!had.has(id)) void witness.tell('settle', id, { result })
    }
  }

  /** @param isOwn whether it is a lock of few, of whom most get in */
  #acquisition(isOwn) {
    const { random, options, isQuorum } = this.#process
    const fixed = random() < 0.4 ? { leaseMs: Math.round(options.leaseMs * (0.3 + random())) } : {}
    if (isQuorum && fixed.leaseMs > options.longestLeaseMs) fixed.leaseMs = options.longestLeaseMs
    const aborts = isOwn ? 0.1 : 1
    const within = (ms) => ({ ...fixed, waitMs: 3_000, signal: AbortSignal.timeout(ms) })
    const kind = pickWeighted(random, [
      [2, () => ({ ...fixed, waitMs: 1 + Math.floor(random() * 3_000) })],
      [1, () => fixed],
      [aborts, () => within(1 + Math.floor(random() * 400))],
      // About when the answer comes.
      [0.5 * aborts, () => within(Math.floor(random() * 4))],
    ])
    return kind()
  }

  /** Tells where an attempt is not settled in time. */
  #watch(attempt) {
    const { options, violation, lateMs } = this.#process
    const { lock, meant } = attempt
    const [startedAt, lateBefore] = [now(), lateMs()]
    const boundMs = (meant.waitMs ?? 0) + options.outageMs + 1_500
    const watch = setInterval(() => {
      const mostMs = boundMs + 2 * (lateMs() - lateBefore) + 3_000
      if (attempt.isSettled || now() - startedAt < mostMs) return
      clearInterval(watch)
      const took = (now() - startedAt).toFixed(0)
      violation(`${lock.name}: ${JSON.stringify(meant)} is not settled after ${took} ms`)
    }, 500)
    return watch
  }

  #granted(attempt, lease) {
    attempt.isSettled = true
    attempt.entries = entriesOf(lease, attempt.ids, this.#work.nameOf)
  }

  async #using(attempt) {
    let lease
    try {
      await attempt.lock.tryUsing(async (got) => {
        lease = got
        this.#granted(attempt, got)
        await this.#work.under(attempt.entries, attempt.ms, true)
      }, attempt.meant)
    } finally {
      if (lease !== undefined) await this.#work.released(lease, attempt.entries)
    }
    if (lease === undefined) this.#refused(attempt)
  }

  async #bare(attempt, mayReenter) {
    const { random, violation } = this.#process
    const { lock, meant, ms } = attempt
    const lease = await lock.tryLock(meant)
    if (lease === null) {
      this.#refused(attempt)
      return
    }
    this.#granted(attempt, lease)
    if (mayReenter) this.#work.settled(attempt.entries, 1)
    const inner = mayReenter && lease.valid ? await this.#again(attempt, lease) : undefined
    // As one does that crashed: the lease is to end it.
    const isAbandoned = meant.leaseMs !== undefined && inner === undefined && random() < 0.01
    await this.#work.under(attempt.entries, ms, !isAbandoned)
    if (isAbandoned) return
    await Promise.all([this.#work.released(lease, attempt.entries), inner?.release()])
    if (lease.valid) violation(`${lock.name}: valid after its release`)
  }

  #refused(attempt) {
    attempt.result = 'refused'
    this.#process.tally.refused += 1
  }

  /**
   * Re-enters, in a frame of `run`.
   *
   * @returns how to release it
   */
  async #again({ lock, ids: outer, said }, lease) {
    const { witness, heard, violation } = this.#process
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
    const entries = entriesOf(inner, ids, this.#work.nameOf)
    this.#work.settled(entries, 2)
    return {
      release: async () => {
        await Promise.all(entries.map(({ id }) => witness.tell('releasing', id)))
        await this.#work.released(inner, entries)
      },
    }
  }

  /** Tells when its place is seen in the queue in Redis. */
  async #lookForPlace(attempt, owner) {
    await pause(1)
    if (attempt.isSettled) return
    const { queue } = await attempt.lock.inspect().catch(() => ({ queue: [] }))
    const isOwn = (name) => name === owner || /^[./]/.test(name.slice(owner.length))
    const isThere = queue.some((one) => one.owner.startsWith(owner) && isOwn(one.owner))
    if (attempt.isSettled || !isThere) return
    const [id] = attempt.ids.values()
    void this.#process.witness.tell('queued', id)
  }
}
