// The work under leases, and the reports about it to the witness.
import { setTimeout as pause } from 'node:timers/promises'
import { now } from './random.mjs'

/** The locks of one acquisition, each as `{ lease, id }`. */
export function entriesOf(lease, ids, nameOf) {
  const leases = lease.leases ?? [lease]
  return leases.map((one) => ({ lease: one, id: ids.get(nameOf(one)) }))
}

export class Work {
  #process

  constructor(process) {
    this.#process = process
  }

  /**
   * The key of a lock. With `--break exclusion`, each process has its own key, and the judge must find the overlaps.
   */
  keyOf(name) {
    const { broken, label } = this.#process
    return broken === 'exclusion' ? `${name} of ${label}` : name
  }

  nameOf = ({ name }) => {
    const { broken, label } = this.#process
    return broken === 'exclusion' ? name.replace(` of ${label}`, '') : name
  }

  /** With `--break validity`, the holder never checks its lease, and the judge must find the overlaps. */
  #isValid(lease) {
    return this.#process.broken === 'validity' || lease.valid
  }

  #validUntil(lease) {
    if (!this.#isValid(lease)) return 0
    return now() + (this.#process.broken === 'validity' ? 60_000 : lease.remaining())
  }

  #grantOf(lease, count = 1) {
    const validUntil = this.#validUntil(lease)
    return { result: 'granted', token: lease.token, count, validUntil }
  }

  /** Reports leases under which no work is done. */
  settled(entries, count) {
    const { witness } = this.#process
    for (const { id, lease } of entries) {
      void witness.tell('settle', id, this.#grantOf(lease, count))
    }
  }

  /**
   * Works until the work is done or the first of the leases ends.
   *
   * @param isReleased true if the caller releases the leases immediately after the work
   * @param writes true if the leases exclude all others, so that the holder may write to the cells
   */
  async under(entries, ms, isReleased, writes = true) {
    const { witness, tally, violation } = this.#process
    const all = entries.map(({ lease }) => lease)
    const isOn = () => all.every((lease) => this.#isValid(lease))
    if (!isOn()) {
      this.settled(entries)
      if (isReleased) await Promise.all(entries.map(({ id }) => witness.tell('releasing', id)))
      return
    }
    const counters = await Promise.all(
      entries.map(({ id, lease }) => witness.tell('enter', id, this.#grantOf(lease))),
    )
    tally.acquired += entries.length
    for (const { id, lease } of entries) this.#tellLoss(id, lease)
    const end = now() + ms
    for (let left = ms; left > 0 && isOn(); left = end - now()) {
      await pause(Math.min(left, 20))
      for (const { id, lease } of entries) {
        const validUntil = this.#validUntil(lease)
        if (validUntil > 0) void witness.tell('valid', id, { validUntil })
      }
    }
    for (const [i, { id, lease }] of entries.entries()) {
      const validUntil = this.#validUntil(lease)
      if (writes && validUntil > 0) {
        void witness.tell('write', id, { counter: counters[i] + 1, validUntil })
      }
      const { valid, signal } = lease
      const { aborted } = signal
      // The lease may have ended between the two reads.
      if (valid === aborted && lease.valid === valid) violation('valid and the signal disagree')
    }
    await Promise.all(
      entries.map(({ id, lease }) =>
        witness.tell('leave', id, { validUntil: this.#validUntil(lease), releasing: isReleased }),
      ),
    )
  }

  /** Reports the time at which the signal reports the loss of the lease. */
  #tellLoss(id, { signal }) {
    const { witness, broken } = this.#process
    if (broken === 'validity') return
    signal.addEventListener('abort', () => void witness.tell('lost', id, { lostAt: now() }), {
      once: true,
    })
  }

  /**
   * Reports the result of a release. If several locks are released, the result does not say which of them was lost.
   */
  async released(lease, entries) {
    const { witness } = this.#process
    let held = null
    try {
      held = await lease.release()
      if (!held && entries.length > 1) held = null
    } finally {
      for (const { id } of entries) void witness.tell('released', id, { released: held })
    }
  }
}
