import { randomBytes } from 'node:crypto'
import type { LockRow } from '../../inspection/inspection.ts'
import { isPermitId } from '../../inspection/owner-ids.ts'
import { mayBeOmitted, rowOf, type TableRow, type Totals, totalsOf } from './row.ts'

/** If the table has this many rows, further free locks get no row and are only counted. */
const MOST_ROWS = 20_000

/**
 * The most removed rows that are remembered. A viewer that missed more removals gets all rows
 * again.
 */
const MOST_GONE = 20_000

/**
 * For this long after a change, in milliseconds, a lock is read often, because it may change again.
 */
const WARM_MS = 60_000

interface TableEntry {
  row: TableRow
  text: string
  version: number
  seenAt: number
  changedAt: number
  holders: LockRow['holders']
}

export interface RowChange {
  readonly key: string
  /** The new row; undefined if the row was removed. */
  readonly after: TableRow | undefined
  /** When the previous row was last read. 0 if there was no previous row. */
  readonly lastSeenAt: number
  /** All owners that hold the lock now. The row names only the first owners. */
  readonly owners: ReadonlySet<string>
}

export interface Status {
  /** `waiting`: the poll is stopped, or its first scan has not ended. */
  readonly state: 'waiting' | 'live' | 'unreachable'
  readonly address: string
  /** The reason why the servers cannot be reached. Null if they can be reached. */
  readonly error: string | null
  /** When the last scan ended. Null if no scan has ended yet. */
  readonly scannedAt: number | null
  /** The reasons why locks of servers may be missing, one sentence for each server. */
  readonly missing: readonly string[]
}

/**
 * The changes since a version: rows as JSON texts, and keys of removed rows. Each text is made only
 * once, because all viewers receive the same text.
 */
export interface Changes {
  readonly version: number
  readonly isAll: boolean
  readonly rows: readonly string[]
  readonly gone: readonly string[]
}

/**
 * All rows. Each row has the version of its last change, so that a viewer receives only new
 * changes.
 */
export class Table {
  /** A random id of this table. The versions of different tables cannot be compared. */
  readonly epoch = randomBytes(6).toString('hex')
  readonly #entries = new Map<string, TableEntry>()
  readonly #gone = new Map<string, number>()
  readonly #onChange: (change: RowChange) => void
  #version = 1
  /**
   * The table has forgotten removals of this version and before. So a viewer with a lower version
   * gets all rows.
   */
  #remembersFrom = 0
  #status: Status
  #omitted = 0
  #wake = newWake()
  #scannedSince = 0
  #owners: Set<string> | undefined
  #totals: (Totals & { readonly version: number }) | undefined

  constructor(address: string, onChange: (change: RowChange) => void) {
    this.#status = { state: 'waiting', address, error: null, scannedAt: null, missing: [] }
    this.#onChange = onChange
  }

  get version(): number {
    return this.#version
  }

  get status(): Status {
    return this.#status
  }

  /** Resolves when the version next increases. */
  get changed(): Promise<void> {
    return this.#wake.promise
  }

  get totals(): Totals {
    // Computed once for each version, because all viewers receive the same totals.
    if (this.#totals?.version === this.#version) return this.#totals
    this.#totals = { version: this.#version, ...totalsOf(this.rows, this.#omitted) }
    return this.#totals
  }

  get isLive(): boolean {
    return this.#status.state === 'live'
  }

  /** All owners that held a lock or a permit at the last look. */
  get owners(): ReadonlySet<string> {
    if (this.#owners === undefined) {
      const holders = [...this.#entries.values()].flatMap((entry) => entry.holders)
      this.#owners = new Set(holders.map(({ owner }) => owner))
    }
    return this.#owners
  }

  /** True if at least one permit of the semaphore has an unknown owner. */
  hasUnknownOwners(key: string): boolean {
    const { holders = [] } = this.#entries.get(key) ?? {}
    return holders.some(({ owner }) => isPermitId(owner))
  }

  /** When the row of this lock was last read. Undefined without a row. */
  seenAt(key: string): number | undefined {
    return this.#entries.get(key)?.seenAt
  }

  /**
   * When the last complete scan began. 0 without such a scan, and while a server is unreachable.
   */
  get scannedSince(): number {
    return this.#scannedSince
  }

  get rows(): readonly TableRow[] {
    return [...this.#entries.values()].map(({ row }) => row)
  }

  setStatus(status: Partial<Status>): void {
    const next = { ...this.#status, ...status }
    if (next.missing.length > 0) this.#scannedSince = 0
    if (JSON.stringify(next) === JSON.stringify(this.#status)) return
    this.#status = next
    this.#version++
    this.#notify()
  }

  put(rows: readonly LockRow[], now: number): void {
    const version = this.#version + 1
    for (const one of rows) this.#putOne(one, now, version)
    this.#notifyIf(version)
  }

  remove(keys: Iterable<string>): void {
    const version = this.#version + 1
    for (const key of keys) this.#removeOne(key, version)
    this.#notifyIf(version)
  }

  /**
   * Removes the rows that were last read before the start of a scan. `omitted` is the number of
   * free locks without a row.
   */
  sweep(notSeenSince: number, omitted: number): void {
    this.#omitted = omitted
    if (this.#status.missing.length === 0) this.#scannedSince = notSeenSince
    const old = [...this.#entries].filter(([, { seenAt }]) => seenAt < notSeenSince)
    this.remove(old.map(([key]) => key))
  }

  /** Returns the keys of locks that are held or waited for, or that changed shortly before. */
  hot(now: number): string[] {
    const keys: string[] = []
    for (const [key, { row, changedAt }] of this.#entries) {
      if (row.state !== 'free' || row.waiting > 0 || now - changedAt < WARM_MS) keys.push(key)
    }
    return keys
  }

  since(version: number): Changes {
    const isAll = version < this.#remembersFrom || version > this.#version || version === 0
    const rows: string[] = []
    for (const entry of this.#entries.values()) {
      if (isAll || entry.version > version) rows.push(entry.text)
    }
    const gone = isAll ? [] : [...this.#gone].filter(([, at]) => at > version).map(([key]) => key)
    return { version: this.#version, isAll, rows, gone }
  }

  #putOne(one: LockRow, now: number, version: number): void {
    const known = this.#entries.get(one.key)
    const row = rowOf(one, now, known?.row)
    if (known === undefined && mayBeOmitted(row) && this.#entries.size >= MOST_ROWS) return
    const text = JSON.stringify(row)
    const { holders } = one
    this.#owners = undefined
    if (known?.text === text) {
      Object.assign(known, { seenAt: now, holders })
      return
    }
    this.#gone.delete(row.key)
    // A new row does not show that the lock has changed. So a new free lock is not read often.
    const changedAt = known === undefined ? Number.NEGATIVE_INFINITY : now
    this.#entries.set(row.key, { row, text, version, seenAt: now, changedAt, holders })
    this.#version = version
    const owners = new Set(holders.map(({ owner }) => owner))
    this.#onChange({ key: row.key, after: row, lastSeenAt: known?.seenAt ?? 0, owners })
  }

  #removeOne(key: string, version: number): void {
    const known = this.#entries.get(key)
    if (known === undefined) return
    this.#entries.delete(key)
    this.#gone.set(key, version)
    this.#version = version
    if (this.#gone.size > MOST_GONE) {
      const [oldest, at] = this.#gone.entries().next().value as [string, number]
      this.#gone.delete(oldest)
      this.#remembersFrom = Math.max(this.#remembersFrom, at)
    }
    this.#owners = undefined
    const { seenAt: lastSeenAt } = known
    this.#onChange({ key, after: undefined, lastSeenAt, owners: new Set() })
  }

  #notifyIf(version: number): void {
    if (this.#version === version) this.#notify()
  }

  #notify(): void {
    const { wake } = this.#wake
    this.#wake = newWake()
    wake()
  }
}

function newWake() {
  let wake = () => {}
  const promise = new Promise<void>((resolve) => {
    wake = resolve
  })
  return { promise, wake }
}
