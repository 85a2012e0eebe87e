import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { fieldsOf, type NewEntry } from './entry.ts'
import type { HistoryClient } from './open-client.ts'
import { isLate, within } from './within.ts'

export interface OutboxOptions {
  readonly key: string
  readonly maxEvents: number
  readonly ttlMs: number
  readonly maxBuffered: number
  /** Called when a batch fails. Called again only after a batch has succeeded. */
  readonly onError: (error: Error) => void
}

interface Pending {
  readonly entry: NewEntry
  /** When the event happened, in milliseconds on the monotonic clock. */
  readonly at: number
  readonly seq: string
}

const BATCH = 100
const EVERY_MS = 150
/**
 * The time limit of a request, in milliseconds. If an answer is late, the outbox opens a new
 * connection and sends the request again.
 */
const ANSWER_MS = 2_000
const LONGEST_PAUSE_MS = 5_000

/**
 * Sends entries to the stream in batches, in order. While Redis does not answer, the outbox keeps
 * about `maxBuffered` entries at most: it drops and counts the oldest entries. If Redis stores a
 * batch twice, both copies of an entry have the same `seq`.
 */
export class Outbox {
  readonly #client: HistoryClient
  readonly #options: OutboxOptions
  readonly #writer = randomBytes(6).toString('base64url')
  #count = 0
  #entries: Pending[] = []
  /** The batch that Redis has not confirmed yet. */
  #sending: Pending[] = []
  #dropped = 0
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> | undefined
  #failures = 0
  #isEnding = false

  constructor(client: HistoryClient, options: OutboxOptions) {
    this.#client = client
    this.#options = options
  }

  add(entry: NewEntry): void {
    if (this.#isEnding) return
    this.#entries.push({ entry, at: performance.now(), seq: `${this.#writer}-${++this.#count}` })
    if (this.#entries.length > this.#options.maxBuffered) {
      this.#entries.shift()
      this.#dropped++
    }
    if (this.#work !== undefined) return
    if (this.#entries.length >= BATCH && this.#failures === 0) this.#send()
    else this.#timer ??= this.#sendIn(EVERY_MS)
  }

  /** Sends the remaining entries for at most `forMs` milliseconds, then closes the connection. */
  async flush(forMs: number): Promise<void> {
    this.#isEnding = true
    const endsAt = performance.now() + forMs
    const late = new AbortController()
    const paused = pause(forMs, undefined, { signal: late.signal }).catch(() => undefined)
    const rest = async () => {
      await this.#work
      while (this.#hasEntries() && performance.now() < endsAt) {
        this.#send()
        await this.#work
        if (this.#failures > 0) await pause(Math.min(100, Math.max(0, endsAt - performance.now())))
      }
    }
    await Promise.race([rest(), paused])
    late.abort()
    clearTimeout(this.#timer)
    this.#client.disconnect()
  }

  #hasEntries(): boolean {
    return this.#entries.length + this.#sending.length + this.#dropped > 0
  }

  #sendIn(ms: number): NodeJS.Timeout {
    // Entries that are not written yet must not keep the process alive.
    return setTimeout(() => this.#send(), ms).unref()
  }

  #send(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#work ??= this.#sendAll().finally(() => {
      this.#work = undefined
      if (!this.#hasEntries() || this.#isEnding) return
      const pauseMs = EVERY_MS * 2 ** Math.min(this.#failures, 6)
      this.#timer ??= this.#sendIn(Math.min(pauseMs, LONGEST_PAUSE_MS))
    })
  }

  /** Sends batches until less than a full batch remains, or until a batch fails. Never rejects. */
  async #sendAll(): Promise<void> {
    do {
      try {
        await this.#sendBatch()
        this.#failures = 0
      } catch (error) {
        if (this.#failures++ === 0 && !this.#isEnding) this.#report(error as Error)
        return
      }
    } while (this.#entries.length >= BATCH)
  }

  async #sendBatch(): Promise<void> {
    this.#noteDropped()
    // If no answer came, Redis may have stored the batch. So the outbox sends exactly the same
    // batch again.
    if (this.#sending.length === 0) this.#sending = this.#entries.splice(0, BATCH)
    if (this.#sending.length === 0) return
    if (this.#client.status === 'wait') await within(this.#client.connect(), ANSWER_MS)
    const { key, maxEvents, ttlMs } = this.#options
    const batch = this.#client.multi()
    const now = performance.now()
    for (const { entry, at, seq } of this.#sending) {
      batch.xadd(key, 'MAXLEN', '~', maxEvents, '*', ...fieldsOf(entry, now - at, seq))
    }
    batch.pexpire(key, ttlMs)
    const replies = await within(batch.exec(), ANSWER_MS).catch((error) => {
      // The connection probably no longer works, so the outbox opens a new connection.
      if (isLate(error) && !this.#isEnding) this.#client.disconnect(true)
      throw error
    })
    const failed = replies?.find(([error]) => error)?.[0]
    if (failed) throw failed
    if (!replies) throw new Error('The batch was not executed')
    this.#sending = []
  }

  /**
   * Adds an entry with the number of dropped entries, at the time of the oldest remaining entry.
   */
  #noteDropped(): void {
    if (this.#dropped === 0 || this.#sending.length > 0) return
    const entry: NewEntry = { event: 'dropped', dropped: this.#dropped }
    this.#dropped = 0
    const [next] = this.#entries
    const at = next?.at ?? performance.now()
    this.#entries.unshift({ entry, at, seq: `${this.#writer}-${++this.#count}` })
  }

  #report(error: Error): void {
    try {
      this.#options.onError(error)
    } catch {
      // An error of the user's callback must not end the process.
    }
  }
}
