import { CLAIM_MS } from '../fair-server.ts'
import { type Hint, MISSED, READERS } from '../hint.ts'
import { isUpgradable, isWriter } from '../read-write-server.ts'
import { endsInMs } from '../remaining.ts'
import type { ReadWriteRecord } from './records/read-write-record.ts'
import { GOES_ON } from './records/waiting-record.ts'

/** Returns the hint in a message that {@link ReadWriteTurns} has sent. */
export function hintIn(message?: string): Hint {
  if (message === undefined) return MISSED
  if (message !== '00' && message !== '01') return { kind: 'turn', of: message }
  return { kind: 'released', by: message === '01' ? 'writer' : 'reader', isForAll: false }
}

/** Sends messages to the next waiters of one read-write lock, within one request. */
export class ReadWriteTurns {
  readonly #readWrite: ReadWriteRecord
  readonly #now: number
  readonly #publish: (message: string) => number

  /** @param publish sends a message to all listeners, and returns how many receive it */
  constructor(readWrite: ReadWriteRecord, now: number, publish: (message: string) => number) {
    this.#readWrite = readWrite
    this.#now = now
    this.#publish = publish
  }

  /**
   * Ends the hold of an owner, and tells the next waiters.
   *
   * @returns how many listeners receive the message that the lock is free; 0 without this message
   */
  freed(owner: string): number {
    const { mode } = this.#readWrite
    // If the longest lease has ended, the lease of the lock must become as short as the longest
    // lease of the other readers.
    const lockMs = endsInMs(this.#readWrite.ttlMs(this.#now))
    const ownMs = this.#readWrite.ttlMsOf(owner, this.#now)
    const wasLongest = lockMs === ownMs || lockMs - (ownMs === 'gone' ? 0 : ownMs) < 100
    this.#readWrite.remove(owner)
    if (isWriter(owner)) return this.#wake(true)
    return mode === 'read' ? this.#readerLeft(owner, wasLongest) : 0
  }

  /**
   * Sends a message to the waiters that are next: to all readers, to the first waiter of the
   * writers' queue, or to both.
   *
   * @param wasWritten true if a writer has just released the lock; then the waiting readers are
   * next
   */
  wakeNext(wasWritten = false): void {
    const { waiting, size } = this.#readWrite
    const first = waiting.first('write', this.#now)
    const waitsToWrite = first !== undefined && first.wanted !== 'upgradable'
    const reader = waiting.first('read', this.#now)
    const areReadersNext = reader && (wasWritten || !waitsToWrite || waiting.isPhase)
    if (areReadersNext) {
      // The phase begins even if no writer waits. Otherwise a new writer could acquire the lock
      // before these readers, which have already waited for one writer.
      if (wasWritten) waiting.beginPhase(this.#now + CLAIM_MS)
      this.#publish(READERS)
    }
    if (first === undefined) return
    const isAlone = size === 0 || (size === 1 && first.sinceUs === GOES_ON)
    if (!waitsToWrite || (isAlone && !areReadersNext)) this.#publish(String(first.sinceUs))
  }

  /**
   * Tells the next waiter if no reader is left. An owner that waits for an upgrade receives its
   * message when it is the only reader.
   *
   * @returns as `freed`
   */
  #readerLeft(owner: string, wasLongest: boolean): number {
    const readWrite = this.#readWrite
    const first = readWrite.waiting.first('write', this.#now)
    const remaining = first || wasLongest ? readWrite.dropDead(this.#now) : readWrite.size
    if (remaining === 0) return this.#wake(false)
    if (isUpgradable(owner) || (remaining === 1 && first?.sinceUs === GOES_ON)) this.wakeNext()
    return 0
  }

  /**
   * Sends the message that the lock is free. After a writer, this means free to read. Then tells
   * the next waiters.
   *
   * @returns how many listeners receive the message
   */
  #wake(wasWritten: boolean): number {
    this.#readWrite.dropDead(this.#now)
    // Waiters for the lock ignore this message. It wakes calls that only want to know when the lock
    // is released.
    const listeners = this.#publish(wasWritten ? '01' : '00')
    this.wakeNext(wasWritten)
    return listeners
  }
}
