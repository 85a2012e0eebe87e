import { randomBytes } from 'node:crypto'
import { isPermitId } from '../deployment/key-names.ts'
import type { LockRow } from '../deployment/rows.ts'
import { rowOf, type TableRow, type Totals, totalsOf } from './row.ts'

/** Free locks beyond so many rows are counted, and not shown. */
const MOST_ROWS = 20_000

/** What has gone is remembered for viewers that were away; those that were for longer get everything anew. */
const MOST_GONE = 20_000

/** A lock that was just let go is likely to be taken again. */
const WARM_MS = 60_000

interface Entry {
  row: TableRow
  text: string
  version: number
  seenAt: number
  changedAt: number
  holders: LockRow['holders']
}

/** What has become of one row. */
export interface Change {
  readonly key: string
  /** Undefined if the lock is not there any more. */
  readonly after: TableRow | undefined
  /** When the row before was last seen to be so; 0 if there was none. */
  readonly lastSeenAt: number
  /** All owners that hold it now, more than the row tells. */
  readonly owners: ReadonlySet<string>
}

export interface Status {
  /** `waiting`: not asked yet. */
  readonly state: 'waiting' | 'live' | 'unreachable'
  readonly address: string
  /** Why it cannot be reached. */
  readonly error: string | null
  /** When all locks were last looked through; null before the first time is over. */
  readonly scannedAt: number | null
  /** Why servers are left out, one sentence each: their locks are missing. */
  readonly missing: readonly string[]
}

/** What has changed since a version, as JSON already: it is the same for all viewers. */
export interface Changes {
  readonly version: number
  readonly isAll: boolean
  readonly rows: readonly string[]
  readonly gone: readonly string[]
}

/** All rows, each with the version of its last change: so whoever looks is told what is new to it, and no more. */
export class Table {
  /** Versions count in one table alone. */
  readonly epoch = randomBytes(6).toString('hex')
  readonly #entries = new Map<string, Entry>()
  readonly #gone = new Map<string, number>()
  readonly #onChange: (change: Change) => void
  #version = 1
  /** Who has seen less than this has missed what is not remembered. */
  #remembersFrom = 0
  #status: Status
  #left = 0
  #wake = newWake()
  #scannedSince = 0
  #owners: Set<string> | undefined
  #totals: (Totals & { readonly version: number }) | undefined

  constructor(address: string, onChange: (change: Change) => void) {
    this.#status = { state: 'waiting', address, error: null, scannedAt: null, missing: [] }
    this.#onChange = onChange
  }

  get version(): number {
    return this.#version
  }

  get status(): Status {
    return this.#status
  }

  /** Resolves when there is another version than now. */
  get changed(): Promise<void> {
    return this.#wake.promise
  }

  get totals(): Totals {
    // All viewers are told the same.
    if (this.#totals?.version === this.#version) return this.#totals
    this.#totals = { version: this.#version, ...totalsOf(this.rows, this.#left) }
    return this.#totals
  }

  get isLive(): boolean {
    return this.#status.state === 'live'
  }

  /** All owners that hold anything now. */
  get owners(): ReadonlySet<string> {
    if (this.#owners === undefined) {
      const holders = [...this.#entries.values()].flatMap((entry) => entry.holders)
      this.#owners = new Set(holders.map(({ owner }) => owner))
    }
    return this.#owners
  }

  /** Whether permits are taken by owners that nobody knows. */
  hasUnknownOwners(key: string): boolean {
    const { holders = [] } = this.#entries.get(key) ?? {}
    return holders.some(({ owner }) => isPermitId(owner))
  }

  /** When that lock was last seen; undefined if it is not there. */
  seenAt(key: string): number | undefined {
    return this.#entries.get(key)?.seenAt
  }

  /** When the last scan of all locks began; 0 before the first one has ended, and while a server cannot be reached. */
  get scannedSince(): number {
    return this.#scannedSince
  }

  get rows(): readonly TableRow[] {
    return [...this.#entries.values()].map(({ row }) => row)
  }

  tell(status: Partial<Status>): void {
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

  /** After all locks were looked through: what was not found has gone. */
  sweep(notSeenSince: number, left: number): void {
    this.#left = left
    if (this.#status.missing.length === 0) this.#scannedSince = notSeenSince
    const old = [...this.#entries].filter(([, { seenAt }]) => seenAt < notSeenSince)
    this.remove(old.map(([key]) => key))
  }

  /** Which to look at often: those with holders or waiters, now or just before. */
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
    if (known === undefined && row.state === 'free' && this.#entries.size >= MOST_ROWS) return
    const text = JSON.stringify(row)
    const { holders } = one
    this.#owners = undefined
    if (known?.text === text) {
      Object.assign(known, { seenAt: now, holders })
      return
    }
    this.#gone.delete(row.key)
    // What is found for the first time, and free, has not just been let go.
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
