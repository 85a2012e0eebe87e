import type { ReadWriteFacts } from '../../servers/facts.ts'
import type { RemoteReadWriteLock } from '../../servers/read-write-server.ts'
import type { HoldfastLock } from '../lock/holdfast-lock.ts'
import { nextNumber } from '../lock/one-lock.ts'
import { Side, UpgradableSide, type WholeLock } from './side.ts'

/**
 * The sides of one read-write lock. The client warns if a call seems to wait for itself. For this
 * warning, all sides are one lock object, because tasks that share one side share all sides.
 */
export class ReadWriteSides {
  readonly reading: HoldfastLock
  readonly upgrading: HoldfastLock
  readonly writing: HoldfastLock
  readonly #lock: WholeLock
  readonly #remote: RemoteReadWriteLock

  constructor(lock: WholeLock) {
    const { kinds, rawName } = lock
    this.#lock = lock
    this.#remote = kinds.server.lock(rawName)
    const whole = { ...lock, number: nextNumber(), whole: this }
    const writing = new Side(whole, kinds.writing)
    this.reading = new Side(whole, kinds.reading)
    this.upgrading = new UpgradableSide(whole, writing)
    this.writing = writing
  }

  async inspect(): Promise<ReadWriteFacts> {
    const { name, locks } = this.#lock
    const inspect = (callMs: number) => this.#remote.inspect(callMs)
    const facts = await locks.request(name, 'not inspected', inspect)
    return { ...facts, holders: facts.holders.map(({ side: _, ...holder }) => holder) }
  }
}
