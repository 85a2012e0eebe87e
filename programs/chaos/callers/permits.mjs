// A caller that acquires permits with leases.
import { PERMITS } from '../kinds.mjs'
import { BaseCaller } from './base.mjs'

export class PermitCaller extends BaseCaller {
  /** @param names only the first name is used */
  async once([name]) {
    const { client, era, random, witness, options } = this.process
    const isOwn = name.startsWith('own-')
    const permits = random() < 0.75 ? 1 : 2
    const meant = { ...this.acquisition(isOwn), permits }
    // Some short leases are renewed by the watchdog.
    if (meant.leaseMs !== undefined && random() < 0.2) meant.renew = true
    const said = {
      ...{ family: 'permits', permits, most: PERMITS, waits: meant.waitMs !== undefined },
      ...{ caller: this.number, era },
    }
    const semaphore = client.getPermitExpirableSemaphore(this.work.keyOf(name), {
      permits: PERMITS,
    })
    const id = await witness.ask(name, said)
    const attempt = {
      ...{ name: semaphore.name, semaphore, meant, said, ids: [id] },
      ...{ entries: [], result: 'rejected', isSettled: false, ms: this.workMs(isOwn) },
      extendMs: random() < 0.05 ? Math.round(options.leaseMs * (0.5 + random())) : undefined,
    }
    const isUsing = random() < 0.4
    await this.settled(attempt, () => (isUsing ? this.#using(attempt) : this.#bare(attempt)))
  }

  async #work(attempt, permit, isReleased) {
    this.granted(attempt, [{ lease: permit, id: attempt.ids[0] }])
    const { extendMs, entries, ms } = attempt
    if (extendMs !== undefined) await permit.extend(extendMs).catch((error) => this.#heard(error))
    await this.work.under(entries, ms, isReleased, false)
  }

  #heard(error) {
    this.process.heard(error, {})
  }

  async #using(attempt) {
    let permit
    try {
      await attempt.semaphore.tryUsing(async (got) => {
        permit = got
        await this.#work(attempt, got, true)
      }, attempt.meant)
    } finally {
      if (permit !== undefined) await this.work.released(permit, attempt.entries)
    }
    if (permit === undefined) this.refused(attempt)
  }

  async #bare(attempt) {
    const { random, violation } = this.process
    const { semaphore, meant, entries } = attempt
    const permit = await semaphore.tryAcquire(meant)
    if (permit === null) {
      this.refused(attempt)
      return
    }
    // This holder behaves like a crashed process: the lease must end the hold.
    const isAbandoned = meant.leaseMs !== undefined && !meant.renew && random() < 0.01
    await this.#work(attempt, permit, !isAbandoned)
    if (isAbandoned) return
    await this.work.released(permit, entries)
    // With `--break permits`, permits are counted twice, and the judge must find this.
    if (this.process.broken === 'permits') await semaphore.addPermits(meant.permits)
    if (permit.valid) violation(`${semaphore.name}: valid after its release`)
  }
}
