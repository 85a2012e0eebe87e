// A caller that acquires permits without leases. If a process is killed, its permits are missing. If a server
// forgets, the number is missing. So after each of these faults, callers use another semaphore, and its name ends
// with a new generation.
import { PERMITS } from '../kinds.mjs'
import { BaseCaller } from './base.mjs'

/** The end of a hold without a lease. */
const NEVER_MS = 1e12

export class SemaphoreCaller extends BaseCaller {
  /** @param names only the first name is used */
  async once([base]) {
    const { client, era, random, witness, generation } = this.process
    const name = `${base}.${generation}`
    const isOwn = base.startsWith('own-')
    const key = this.work.keyOf(name)
    const permits = random() < 0.75 ? 1 : 2
    const { leaseMs: _, ...acquisition } = this.acquisition(isOwn)
    const meant = { ...acquisition, permits }
    if (!(await this.#isSet(key))) return
    const isUsing = random() < 0.4
    const said = {
      ...{ family: 'semaphore', permits, most: PERMITS, waits: meant.waitMs !== undefined },
      ...{ caller: this.number, era, outlives: !isUsing },
    }
    const id = await witness.ask(name, said)
    const attempt = {
      ...{ name: key, semaphore: client.getSemaphore(key), meant, said, ids: [id] },
      ...{ entries: [], result: 'rejected', isSettled: false, ms: this.workMs(isOwn) },
    }
    await this.settled(attempt, () => (isUsing ? this.#using(attempt) : this.#bare(attempt)))
  }

  /** True if the number of permits of the semaphore is set. */
  async #isSet(key) {
    const { client, heard, permitsSet } = this.process
    try {
      if (!permitsSet.has(key)) permitsSet.set(key, client.getSemaphore(key).trySetPermits(PERMITS))
      await permitsSet.get(key)
      return true
    } catch (error) {
      permitsSet.delete(key)
      heard(error, {})
      return false
    }
  }

  async #work(attempt, release) {
    const { signal } = new AbortController()
    const lease = { valid: true, remaining: () => NEVER_MS, signal, release }
    this.granted(attempt, [{ lease, id: attempt.ids[0] }])
    await this.work.under(attempt.entries, attempt.ms, true, false)
    return lease
  }

  async #using(attempt) {
    let lease
    const result = await attempt.semaphore.tryUsing(async () => {
      // The permits were released by `tryUsing`, which has ended, or by the `close()` of an earlier client. Only the
      // event `error` reports a release that Redis has not confirmed.
      const { era, errorsOf } = this.process
      const before = errorsOf(attempt.name)
      const isSure = () => this.process.era === era && errorsOf(attempt.name) === before
      lease = await this.#work(attempt, async () => (isSure() ? true : null))
      return true
    }, attempt.meant)
    if (result === null) this.refused(attempt)
    else await this.work.released(lease, attempt.entries)
  }

  async #bare(attempt) {
    const { semaphore, meant, name } = attempt
    if (!(await semaphore.tryAcquire(meant))) {
      this.refused(attempt)
      return
    }
    // Any client may release the permits, even a client that was opened later.
    const release = async () => {
      const { client, broken } = this.process
      // With `--break permits`, permits are counted twice, and the judge must find this.
      const permits = broken === 'permits' ? 2 * meant.permits : meant.permits
      await client.getSemaphore(name).release(permits)
      return true
    }
    await this.work.released(await this.#work(attempt, release), attempt.entries)
  }
}
