import { setImmediate as nextTurn } from 'node:timers/promises'
import type { HistoryEntry, HistoryRedis } from '../history/history.ts'
import { type ReadPosition, readFrom } from '../history/read-history.ts'
import {
  bytesOf,
  HISTORY_LIMITS,
  HistoryIndex,
  type HistoryLimits,
} from './handler/history-index.ts'
import { CLOSED, messageOf } from './handler/poll.ts'

/** The Redis and the key of the history, as in the options of `recordHistory`. */
export interface HistoryOptions {
  /**
   * The Redis of the history: a URL, options of ioredis, `{ cluster: [...] }` or a client of
   * ioredis. The dashboard opens its own connection.
   */
  readonly redis: HistoryRedis
  /** The key of the stream; `holdfast_history` by default. */
  readonly key?: string | undefined
}

/**
 * After this time without a request, in milliseconds, the dashboard no longer follows the history.
 */
const IDLE_MS = 30_000
const RETRY_MS = 3_000

/** After it has indexed this many existing entries, the dashboard lets the event loop do other work. */
const ENTRIES_OF_TURN = 500

/**
 * Follows the history while viewers request it. Reads the newest existing entries at each start,
 * and then only new entries.
 */
export class FollowedHistory {
  readonly #options: HistoryOptions
  readonly #limits: HistoryLimits
  readonly #idleMs: number
  #index = new HistoryIndex()
  #following: AbortController | undefined
  #begun = Promise.resolve()
  #idle: NodeJS.Timeout | undefined
  /** The number of pending calls of `index()`. */
  #asking = 0
  #error: unknown
  #isClosed = false
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(options: HistoryOptions, limits = HISTORY_LIMITS, idleMs = IDLE_MS) {
    this.#options = options
    this.#limits = limits
    this.#idleMs = idleMs
  }

  /**
   * @returns the index; null if the history has no entries. Rejects if the history cannot be read
   */
  async index(): Promise<HistoryIndex | null> {
    if (this.#isClosed) throw new Error(CLOSED)
    clearTimeout(this.#idle)
    this.#asking++
    try {
      if (this.#following === undefined && performance.now() - this.#failedAt > RETRY_MS) {
        this.#begun = this.#start()
      }
      await this.#begun
      if (this.#following === undefined) throw this.#error
      return this.#index.size === 0 ? null : this.#index
    } finally {
      // The idle time begins when no call is pending, because the first read may take longer than
      // the idle time.
      if (--this.#asking === 0 && !this.#isClosed) {
        this.#idle = setTimeout(() => this.#rest(), this.#idleMs).unref()
      }
    }
  }

  stopFollowing(): void {
    this.#isClosed = true
    this.#error ??= new Error(CLOSED)
    this.#rest()
  }

  #rest(): void {
    clearTimeout(this.#idle)
    this.#following?.abort()
    this.#following = undefined
    // The index gets no new entries now, so the index is dropped. The next call reads the history
    // again.
    this.#index = new HistoryIndex()
  }

  /** Reads the existing entries, the newest first. Then follows new entries in the background. */
  async #start(): Promise<void> {
    const following = new AbortController()
    this.#following = following
    const { signal } = following
    try {
      const mark: ReadPosition = { seen: new Set() }
      const newestFirst = await this.#read(mark, signal)
      const index = new HistoryIndex(this.#limits)
      for (let i = newestFirst.length - 1; i >= 0; i--) {
        index.add(newestFirst[i] as HistoryEntry)
        if (i % ENTRIES_OF_TURN === 0) await nextTurn()
      }
      if (signal.aborted) return
      this.#index = index
      void this.#follow(mark, signal)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #read(mark: ReadPosition, signal: AbortSignal): Promise<HistoryEntry[]> {
    const { mostEntries, mostBytes } = this.#limits
    const newestFirst: HistoryEntry[] = []
    let bytes = 0
    const options = { ...this.#options, signal, last: mostEntries }
    for await (const entry of readFrom(options, mark)) {
      newestFirst.push(entry)
      bytes += bytesOf(entry)
      if (bytes > mostBytes) break
    }
    return newestFirst
  }

  async #follow(mark: ReadPosition, signal: AbortSignal): Promise<void> {
    try {
      const options = { ...this.#options, follow: true, signal }
      for await (const entry of readFrom(options, mark)) this.#index.add(entry)
    } catch (error) {
      if (!signal.aborted) this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#error = new Error(messageOf(error))
    this.#failedAt = performance.now()
    this.#rest()
  }
}
