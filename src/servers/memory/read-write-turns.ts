import { CLAIM_MS } from '../fair-server.ts'
import { isUpgradable, isWriter } from '../read-write-server.ts'
import type { ReadWriteRecord } from './records/read-write-record.ts'
import { GOES_ON } from './records/waiting-record.ts'

/** Finds the next owners of one read-write lock, for one request. */
export class ReadWriteTurns {
  readonly #readWrite: ReadWriteRecord
  readonly #now: number
  readonly #publish: (message: string) => number

  /** @param publish sends a message to all listeners and returns how many receive it */
  constructor(readWrite: ReadWriteRecord, now: number, publish: (message: string) => number) {
    this.#readWrite = readWrite
    this.#now = now
    this.#publish = publish
  }

  /**
   * Called when an owner has left. @returns how many listeners receive that the lock is free, or
   * free to read
   */
  freed(owner: string): number {
    const { mode } = this.#readWrite
    // If the longest lease has ended, the expiry of the lock must follow the leases that are left.
    const lockMs = this.#readWrite.ttlMs(this.#now)
    const wasLongest = lockMs - this.#readWrite.ttlMsOf(owner, this.#now) < 100
    this.#readWrite.remove(owner)
    if (isWriter(owner)) return this.#wake(true)
    return mode === 'read' ? this.#readerLeft(owner, wasLongest) : 0
  }

  /**
   * Wakes the waiters that are next: all that wait to read, and the first of the queue.
   *
   * @param wasWritten true if a writer has left; then the waiting readers are next
   */
  tellNext(wasWritten = false): void {
    const { waiting, size } = this.#readWrite
    const first = waiting.first('write', this.#now)
    const waitsToWrite = first !== undefined && first.wanted !== 'upgradable'
    const reader = waiting.first('read', this.#now)
    const areReadersNext = reader && (wasWritten || !waitsToWrite || waiting.isPhase)
    if (areReadersNext) {
      // Even without a waiting writer: a writer that comes before these readers would be their
      // second.
      if (wasWritten) waiting.beginPhase(this.#now + CLAIM_MS)
      this.#publish('2')
    }
    if (first === undefined) return
    const isAlone = size === 0 || (size === 1 && first.sinceUs === GOES_ON)
    if (!waitsToWrite || (isAlone && !areReadersNext)) this.#publish(String(first.sinceUs))
  }

  /**
   * Wakes the waiting writer if no reader is left, or if it waits for an upgrade and is the only
   * reader.
   */
  #readerLeft(owner: string, wasLongest: boolean): number {
    const readWrite = this.#readWrite
    const first = readWrite.waiting.first('write', this.#now)
    const left = first || wasLongest ? readWrite.dropDead(this.#now) : readWrite.size
    if (left === 0) return this.#wake(false)
    if (isUpgradable(owner) || (left === 1 && first?.sinceUs === GOES_ON)) this.tellNext()
    return 0
  }

  /**
   * Called when the lock is free, or free to read after a write. @returns how many listeners
   * receive that
   */
  #wake(wasWritten: boolean): number {
    this.#readWrite.dropDead(this.#now)
    // This message is for clients of Redisson, and a server in memory has none.
    const listeners = this.#publish(wasWritten ? '01' : '00')
    this.tellNext(wasWritten)
    return listeners
  }
}
