// A caller that reads, writes, upgrades and downgrades.
import { pick, pickWeighted } from '../random.mjs'
import { BaseCaller } from './base.mjs'

/** The side of a read-write lock for each mode. */
const SIDES = {
  read: (lock) => lock.readLock(),
  upgradable: (lock) => lock.upgradableLock(),
  write: (lock) => lock.writeLock(),
}

/** The modes that a holder of each mode may acquire in addition. */
const INNER = {
  read: ['read'],
  upgradable: ['write', 'write', 'upgradable'],
  write: ['write', 'read'],
}

export class ReadWriteCaller extends BaseCaller {
  /** @param names only the first name is used */
  async once([name]) {
    const { client, era, random, witness } = this.process
    const isOwn = name.startsWith('own-')
    const mode = pickWeighted(random, [
      [6, 'read'],
      [3, 'write'],
      [1.5, 'upgradable'],
    ])
    const meant = this.acquisition(isOwn)
    const said = {
      ...{ family: 'read-write', mode, waits: meant.waitMs !== undefined },
      ...{ caller: this.number, era },
    }
    const lock = client.getReadWriteLock(this.#keyOf(name, mode))
    const id = await witness.ask(name, said)
    const attempt = {
      ...{ name: lock.name, lock, side: SIDES[mode](lock), mode, meant, said, ids: [id] },
      ...{ entries: [], result: 'rejected', isSettled: false, ms: this.workMs(isOwn) },
    }
    await this.settled(attempt, async () => {
      const way = random()
      if (way < 0.3) await this.#using(attempt)
      else if (way > 0.6) await client.run(() => this.#bare(attempt, true))
      else await this.#bare(attempt, false)
    })
  }

  /** With `--break writers`, writers exclude each other but no readers, and the judge must find this. */
  #keyOf(name, mode) {
    const isApart = this.process.broken === 'writers' && mode === 'write'
    return this.work.keyOf(isApart ? `${name} to write` : name)
  }

  #granted(attempt, lease) {
    this.granted(attempt, [{ lease, id: attempt.ids[0] }])
  }

  #under({ entries, ms, mode }, isReleased) {
    return this.work.under(entries, ms, isReleased, mode === 'write')
  }

  async #using(attempt) {
    let lease
    try {
      await attempt.side.tryUsing(async (got) => {
        lease = got
        this.#granted(attempt, got)
        await this.#under(attempt, true)
      }, attempt.meant)
    } finally {
      if (lease !== undefined) await this.work.released(lease, attempt.entries)
    }
    if (lease === undefined) this.refused(attempt)
  }

  /** @param isFrame true if the caller runs in a frame, so that it can acquire more holds for the same owner */
  async #bare(attempt, isFrame) {
    const { random, violation } = this.process
    const { side, meant, entries } = attempt
    const lease = await side.tryLock(meant)
    if (lease === null) {
      this.refused(attempt)
      return
    }
    this.#granted(attempt, lease)
    const isUpgrading = attempt.mode === 'upgradable' && random() < 0.5
    if (!(isFrame || isUpgrading) || !lease.valid) {
      const isAbandoned = meant.leaseMs !== undefined && random() < 0.01
      await this.#under(attempt, !isAbandoned)
      if (isAbandoned) return
      await this.work.released(lease, entries)
    } else await this.#withMore(attempt, lease, isUpgrading)
    if (lease.valid) violation(`${attempt.name}: valid after its release`)
  }

  /** Acquires another hold for the same owner, and releases the two in either order. */
  async #withMore(attempt, lease, isUpgrading) {
    const { random, witness } = this.process
    const { entries, said, ids } = attempt
    const mode = isUpgrading ? 'write' : pick(random, INNER[attempt.mode])
    const isReentry = mode === attempt.mode
    // The work under the first hold ends before the caller requests the second hold.
    await this.#under(attempt, false)
    const [outer] = ids
    const id = await witness.ask(attempt.name, { ...said, mode, within: outer })
    const inner = { ...attempt, mode, ids: [id], entries: [] }
    const got = await this.#inner(inner, lease, isUpgrading)
    const isInnerLast = got !== null && !isReentry && random() < 0.5
    if (got !== null && !isInnerLast) await this.#releaseInner(inner, got, isReentry)
    await witness.tell('releasing', outer)
    await this.work.released(lease, entries)
    if (isInnerLast) await this.#releaseInner(inner, got, false)
  }

  async #inner(inner, lease, isUpgrading) {
    const { heard, violation } = this.process
    const { lock, mode, ids, name } = inner
    const isReentry = mode === inner.said.mode
    let result = 'rejected'
    let got = null
    try {
      const options = { waitMs: 2_000 }
      got = isUpgrading ? await lease.tryUpgrade(options) : await SIDES[mode](lock).tryLock(options)
      // Other readers may keep the lock for any time.
      if (got === null) result = 'refused'
      if (got === null && mode !== 'write' && lease.valid) {
        violation(`${name}: its holder (${inner.said.mode}) was not let in again to ${mode}`)
      }
    } catch (error) {
      heard(error, {})
    }
    if (got === null) void this.process.witness.tell('settle', ids[0], { result })
    else {
      inner.entries.push({ lease: got, id: ids[0] })
      if (isReentry) this.work.settled(inner.entries, 2)
    }
    return got
  }

  async #releaseInner(inner, got, isReentry) {
    if (isReentry) await this.process.witness.tell('releasing', inner.ids[0])
    else await this.work.under(inner.entries, 0, true, inner.mode === 'write')
    await this.work.released(got, inner.entries)
  }
}
