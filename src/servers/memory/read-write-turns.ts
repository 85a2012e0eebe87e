import { CLAIM_MS } from '../fair-server.ts'
import type { WaitingRecord } from './records/waiting-record.ts'

/** Who may have one read-write lock next, in one request. */
export class ReadWriteTurns {
  /** Tells all who listen. @returns how many */
  readonly publish: (message: string) => number
  readonly #waiting: WaitingRecord
  readonly #now: number

  constructor(waiting: WaitingRecord, now: number, publish: (message: string) => number) {
    this.#waiting = waiting
    this.#now = now
    this.publish = publish
  }

  /**
   * Tells those who are next: all who wait to read, or the one who has waited to write for the longest.
   *
   * @param isRead whether somebody reads
   * @param wasWritten whether a writer has left, after whom those who wait to read are next
   */
  tellNext({ isRead, wasWritten = false }: { isRead: boolean; wasWritten?: boolean }): void {
    const waiting = this.#waiting
    const reader = waiting.first('read', this.#now)
    const writer = waiting.first('write', this.#now)
    if (reader && (wasWritten || !writer || waiting.isPhase)) {
      // Also where no writer waits yet: one who comes before them would be the second that they wait for.
      if (wasWritten) waiting.beginPhase(this.#now + CLAIM_MS)
      this.publish('2')
    } else if (writer && !isRead) {
      this.publish(String(writer.sinceUs))
    }
  }

  /**
   * The lock is free, or free to read after it was written.
   *
   * @returns how many were told
   */
  wake(terms: { isRead: boolean; wasWritten: boolean }): number {
    // What is told to clients of Redisson, of whom there are none here.
    const listeners = this.publish(terms.wasWritten ? '01' : '00')
    this.tellNext(terms)
    return listeners
  }
}
