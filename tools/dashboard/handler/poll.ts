import { setTimeout as pause } from 'node:timers/promises'
import type { Inspection } from '../../inspection/inspection.ts'
import type { Table } from './table.ts'

export interface PollTimes {
  /**
   * The pause between two looks, in milliseconds. A look reads the locks that are held or waited
   * for, or that changed shortly before.
   */
  readonly lookMs: number
  /** The shortest pause between two scans of all locks, in milliseconds. */
  readonly scanMs: number
  /** The pause before a retry after a failure of the servers, in milliseconds. */
  readonly retryMs: number
  /**
   * For how long the poll continues without viewers, in milliseconds. The last viewer may only have
   * reloaded the page.
   */
  readonly lingerMs: number
}

/** The share of the time that scans may take. So the poll makes a long pause after a long scan. */
const SCAN_SHARE = 0.4

/** @internal The error message of requests that fail because the dashboard closes. */
export const CLOSED = 'The dashboard was closed.'

/** The most keys that one look reads. The next looks read the other keys. */
const KEYS_OF_LOOK = 2_000

/**
 * Reads the locks again and again, once for all viewers. Stops `lingerMs` after the last viewer has
 * left.
 */
export class Poll {
  readonly #open: () => Promise<Inspection>
  readonly #table: Table
  readonly #times: PollTimes
  #viewers = 0
  #running: AbortController | undefined
  #lingering: NodeJS.Timeout | undefined
  #inspection: Promise<Inspection> | undefined
  #isClosed = false
  #turn = 0

  constructor(open: () => Promise<Inspection>, table: Table, times: PollTimes) {
    this.#open = open
    this.#table = table
    this.#times = times
  }

  /**
   * Adds a viewer, and starts the poll for the first viewer. @returns a function that removes the
   * viewer
   */
  enter(): () => void {
    this.#viewers++
    clearTimeout(this.#lingering)
    if (this.#running === undefined && !this.#isClosed) {
      this.#running = new AbortController()
      void this.#run(this.#running.signal)
    }
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      if (--this.#viewers > 0 || this.#isClosed) return
      this.#lingering = setTimeout(() => void this.#rest(), this.#times.lingerMs).unref()
    }
  }

  /**
   * Opens the inspection of the poll if necessary, and calls `question` with this inspection. The
   * call counts as a viewer until the answer.
   */
  async withInspection<T>(question: (inspection: Inspection) => Promise<T>): Promise<T> {
    const exit = this.enter()
    try {
      const inspection = await this.#opened()
      return await question(inspection)
    } finally {
      exit()
    }
  }

  /** Reads the given locks at once, and updates the table. */
  async reread(keys: readonly string[]): Promise<void> {
    await this.withInspection((inspection) => this.#readKeys(inspection, keys))
  }

  async stopPolling(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#lingering)
    await this.#rest()
  }

  async #rest(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    running?.abort()
    // From now on, no poll updates the rows. So the status of the table must not be `live`.
    this.#table.setStatus({ state: 'waiting', error: null })
    // A server that hangs may keep `#run` waiting, so this method does not wait for `#run`.
    await this.#drop()
  }

  async #run(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      const session = new AbortController()
      const signal = AbortSignal.any([stopped, session.signal])
      try {
        const inspection = await this.#opened()
        this.#table.setStatus({ address: inspection.address })
        const both = [this.#scans(inspection, signal), this.#looks(inspection, signal)]
        await Promise.all(both).finally(() => session.abort())
      } catch (error) {
        if (stopped.aborted) return
        this.#table.setStatus({ state: 'unreachable', error: messageOf(error) })
        await this.#drop()
        await pause(this.#times.retryMs, undefined, { signal: stopped }).catch(() => undefined)
      }
    }
  }

  async #scans(inspection: Inspection, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedAt = Date.now()
      let found = 0
      for await (const rows of inspection.list({ signal })) {
        if (signal.aborted) return
        found += rows.length
        this.#table.put(rows, Date.now())
      }
      if (signal.aborted) return
      this.#reportMissing(inspection)
      const { shown } = this.#table.totals
      this.#table.sweep(startedAt, Math.max(0, found - shown))
      const tookMs = Date.now() - startedAt
      this.#table.setStatus({ state: 'live', error: null, scannedAt: Date.now() })
      await pause(Math.max(this.#times.scanMs, tookMs / SCAN_SHARE - tookMs), undefined, { signal })
    }
  }

  async #looks(inspection: Inspection, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.#times.lookMs, undefined, { signal })
      const hot = this.#table.hot(Date.now())
      this.#turn = hot.length > KEYS_OF_LOOK ? (this.#turn + KEYS_OF_LOOK) % hot.length : 0
      const keys = [...hot.slice(this.#turn), ...hot.slice(0, this.#turn)].slice(0, KEYS_OF_LOOK)
      if (keys.length > 0) await this.#readKeys(inspection, keys, signal)
    }
  }

  async #readKeys(
    inspection: Inspection,
    keys: readonly string[],
    signal?: AbortSignal,
  ): Promise<void> {
    const rows = await inspection.read(keys)
    // If the poll was stopped during the request, a later poll may already have newer rows.
    if (signal?.aborted) return
    this.#reportMissing(inspection)
    this.#table.put(rows, Date.now())
    const found = new Set(rows.map(({ key }) => key))
    this.#table.remove(keys.filter((key) => !found.has(key)))
  }

  /**
   * Stores the reasons why servers cannot be reached. Must run before rows are removed, because
   * `SeenHolds` reads the reasons. If a server is unreachable, a removed row does not end a hold.
   */
  #reportMissing({ unreachable }: Inspection): void {
    this.#table.setStatus({ missing: unreachable.map(({ reason }) => reason) })
  }

  #opened(): Promise<Inspection> {
    if (this.#isClosed) return Promise.reject(new Error(CLOSED))
    if (this.#inspection === undefined) {
      const opening = this.#open()
      this.#inspection = opening
      opening.catch(() => {
        if (this.#inspection === opening) this.#inspection = undefined
      })
    }
    return this.#inspection
  }

  async #drop(): Promise<void> {
    const inspection = this.#inspection
    this.#inspection = undefined
    await inspection?.then((one) => one.close()).catch(() => undefined)
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
