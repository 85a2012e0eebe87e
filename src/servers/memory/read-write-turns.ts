import { CLAIM_MS } from '../fair-server.ts'
import { isUpgradable, isWriter } from '../read-write-server.ts'
import type { ReadWriteRecord } from './records/read-write-record.ts'
import { GOES_ON } from './records/waiting-record.ts'

/** Who may have one read-write lock next, in one request. */
export class ReadWriteTurns {
  readonly #readWrite: ReadWriteRecord
  readonly #now: number
  readonly #publish: (message: string) => number

  /** @param publish tells all who listen, and returns how many these are */
  constructor(readWrite: ReadWriteRecord, now: number, publish: (message: string) => number) {
    this.#readWrite = readWrite
    this.#now = now
    this.#publish = publish
  }

  /** An owner has left. @returns how many were told that the lock is free, or free to read */
  freed(owner: string): number {
    const { mode } = this.#readWrite
    // If the lease that ends is the longest, the lock is to last for as long as those that are left.
    const lockMs = this.#readWrite.ttlMs(this.#now)
    const wasLongest = lockMs - this.#readWrite.ttlMsOf(owner, this.#now) < 100
    this.#readWrite.remove(owner)
    if (isWriter(owner)) return this.#wake(true)
    return mode === 'read' ? this.#readerLeft(owner, wasLongest) : 0
  }

  /**
   * Tells those who are next: all who wait to read, and the first of the queue.
   *
   * @param wasWritten whether a writer has left, after whom those who wait to read are next
   */
  tellNext(wasWritten = false): void {
    const { waiting, size } = this.#readWrite
    const first = waiting.first('write', this.#now)
    const waitsToWrite = first !== undefined && first.wanted !== 'upgradable'
    const reader = waiting.first('read', this.#now)
    const areReadersNext = reader && (wasWritten || !waitsToWrite || waiting.isPhase)
    if (areReadersNext) {
      // Even if nobody waits to write yet: one who comes before them would be the second writer that they wait for.
      if (wasWritten) waiting.beginPhase(this.#now + CLAIM_MS)
      this.#publish('2')
    }
    if (first === undefined) return
    const isAlone = size === 0 || (size === 1 && first.sinceUs === GOES_ON)
    if (!waitsToWrite || (isAlone && !areReadersNext)) this.#publish(String(first.sinceUs))
  }

  /** Whoever waits to write is told if nobody reads any more, or if it waits for an upgrade when it is alone. */
  #readerLeft(owner: string, wasLongest: boolean): number {
    const readWrite = this.#readWrite
    const first = readWrite.waiting.first('write', this.#now)
    const left = first || wasLongest ? readWrite.dropDead(this.#now) : readWrite.size
    if (left === 0) return this.#wake(false)
    if (isUpgradable(owner) || (left === 1 && first?.sinceUs === GOES_ON)) this.tellNext()
    return 0
  }

  /** The lock is free, or free to read after it was written. @returns how many were told */
  #wake(wasWritten: boolean): number {
    this.#readWrite.dropDead(this.#now)
    // What is told to clients of Redisson, of whom there are none here.
    const listeners = this.#publish(wasWritten ? '01' : '00')
    this.tellNext(wasWritten)
    return listeners
  }
}
