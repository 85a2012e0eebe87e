import { connectToRecords } from '../../../src/connect-records.ts'
import { Holdfast } from '../../../src/index.ts'
import { CallFailure } from '../../../src/servers/call-failure.ts'
import { NameConflict } from '../../../src/servers/name-conflict.ts'
import { readClientInfo } from '../../../src/servers/presence.ts'
import { READ_WRITE } from '../../../src/servers/read-write-server.ts'
import type { RecordStore } from '../../../src/servers/record-store.ts'
import { lastToken } from '../../../src/servers/records/counter.ts'
import { RECORD_KINDS } from '../../../src/servers/records/kinds/all.ts'
import { changeRecord, type OpenRecord } from '../../../src/servers/records/open-record.ts'
import { ABOUT, WAITS } from '../../../src/servers/records/record-presence.ts'
import { RecordServer } from '../../../src/servers/records/record-server.ts'
import { type RowKind, viewOf } from '../../kinds/all.ts'
import { newDetail, withProcesses } from '../conclude.ts'
import { matcherOf, prefixOf } from '../glob.ts'
import type {
  Forced,
  Inspection,
  ListOptions,
  LockDetail,
  LockRow,
  ProcessFacts,
  ReleaseReason,
  SeenHolder,
} from '../inspection.ts'
import { permitsOf } from '../owner-ids.ts'
import { refuseForce } from '../refuse-force.ts'
import { keptIn, waitsIn } from '../reported-waits.ts'
import { errorForUser, labelOf, requestRelease } from '../request-release.ts'
import { rowOf } from '../row-of.ts'
import { kindsToTry, readAs } from './readers.ts'

/**
 * The time limit of a request, in milliseconds. `list` sends many requests at once, and a busy
 * process handles the answers late.
 */
const CALL_MS = 5_000

/** The reports of all clients, by client id. */
interface Reports {
  readonly about: ReadonlyMap<string, string>
  readonly waits: ReadonlyMap<string, string>
}

/** Inspects the locks of a server without scripts, with the requests that every client can send. */
export class RecordInspection implements Inspection {
  readonly address: string
  readonly unreachable = []
  readonly isIncomplete = false
  readonly #openStore: () => RecordStore
  readonly #server: RecordServer<RecordStore>
  readonly #client: Holdfast
  /** About how many requests were sent. */
  #commands = 0

  /**
   * @param openStore returns a new connection to the server
   * @param address the address of the server, as text for users
   */
  constructor(openStore: () => RecordStore, address: string) {
    this.#openStore = openStore
    this.address = address
    this.#server = newServer(openStore())
    this.#client = newClient('inspection', this.#server)
  }

  get cost() {
    return { commands: this.#commands, bytes: 0, tookMs: 0 }
  }

  async *list({ pattern, heldOnly = false, signal }: ListOptions = {}) {
    const isMeant = pattern === undefined ? () => true : matcherOf(pattern)
    const prefix = pattern === undefined ? '' : prefixOf(pattern)
    try {
      for await (const names of this.#server.store.list(prefix, CALL_MS)) {
        signal?.throwIfAborted()
        this.#commands++
        const keys = names.filter(isMeant)
        if (keys.length === 0) continue
        const rows = await this.read(keys)
        yield rows.filter(({ holders }) => !heldOnly || holders.length > 0)
      }
    } catch (error) {
      throw failureForUser(error)
    }
  }

  /** Yields nothing, because each part of a record expires by itself. */
  async *listEndless() {}

  async read(keys: readonly string[]): Promise<readonly LockRow[]> {
    const reports = await this.#readReports()
    const details = await Promise.all(keys.map((key) => this.#inspect(key, reports)))
    return details.flatMap((detail) => (detail === null ? [] : [rowOf(detail)]))
  }

  async inspect(key: string): Promise<LockDetail | null> {
    return this.#inspect(key, await this.#readReports())
  }

  async #inspect(key: string, reports: Reports): Promise<LockDetail | null> {
    const what = await this.#read(key, (record) => record.what)
    const found = await this.#find(key, what)
    if (found === null) return null
    // Reads the token after the holders, so that no holder has a higher token.
    const token = await this.#read(key, lastToken)
    const detail = newDetail(key, found.kind, token || null, found)
    const processOf = (client: string) => processIn(reports, client)
    const keptMsOf = (client: string) => this.#keptMs(client, key, reports)
    return withProcesses(detail, processOf, this.#waitersFor(key, reports), keptMsOf)
  }

  async forceRelease(key: string, seen: SeenHolder): Promise<Forced> {
    const found = await this.inspect(key)
    const { kind = 'lock', holders = [], token = null } = found ?? {}
    refuseForce(kind, key, seen.owner, holders)
    const isReleased = await this.#release(kind, key, seen, holders).catch((error: unknown) => {
      throw failureForUser(error)
    })
    if (isReleased) return { outcome: 'released', fence: fenceOf(kind, holders, token) }
    return { outcome: kind === 'permits' || holders.length === 0 ? 'free' : 'changed', fence: null }
  }

  requestRelease(key: string, owners: readonly string[], reason: ReleaseReason) {
    const client = newClient(labelOf(reason), newServer(this.#openStore()))
    return requestRelease(client, key, owners, reason)
  }

  async close(): Promise<void> {
    await this.#client.close()
  }

  async #read<T>(key: string, read: (record: OpenRecord) => T): Promise<T> {
    this.#commands++
    try {
      return await changeRecord(this.#server.store, key, CALL_MS, read)
    } catch (error) {
      throw failureForUser(error)
    }
  }

  /**
   * Tries the kinds one after the other. Returns the state from the first kind that has this name,
   * or null.
   */
  async #find(key: string, what: string | undefined) {
    for (const view of kindsToTry(key, what)) {
      this.#commands++
      try {
        const found = await readAs(view, this.#client, key)
        if (found !== null) return found
      } catch (error) {
        // The client refuses a name of another kind.
        if (!isConflict(error)) throw errorForUser(error)
      }
    }
    return null
  }

  /** @returns true if the holder lost the lock or the permits by this call */
  async #release(
    kind: RowKind,
    key: string,
    { owner, token }: SeenHolder,
    holders: LockDetail['holders'],
  ): Promise<boolean> {
    if (kind === 'permits') {
      const ids = permitsOf(owner, holders)
      return ids.length > 0 && this.#client.getPermitExpirableSemaphore(key).release(ids)
    }
    if (kind === 'read-write') {
      const own = { clientId: this.#client.id, label: '', outageMs: CALL_MS }
      return this.#server.kind(READ_WRITE, own).lock(key).forceRelease(owner, CALL_MS)
    }
    return this.#server.lock(key).forceRelease({ owner, token }, CALL_MS)
  }

  async #readReports(): Promise<Reports> {
    const { reports } = this.#server.store
    this.#commands += 2
    try {
      const [about, waits] = await Promise.all([
        reports.ofAll(ABOUT, CALL_MS),
        reports.ofAll(WAITS, CALL_MS),
      ])
      return { about, waits }
    } catch (error) {
      throw failureForUser(error)
    }
  }

  /** Returns for how long the client has kept the lock without use; undefined if the lock is not kept. */
  #keptMs(client: string, key: string, { waits }: Reports): number | undefined {
    const since = new Map(keptIn(waits.get(client) ?? null)).get(key)
    return since === undefined ? undefined : Math.round(this.#server.store.clock.now().wall - since)
  }

  /** Returns the clients that reported a wait for this lock. */
  #waitersFor(key: string, { waits }: Reports) {
    const { wall } = this.#server.store.clock.now()
    return [...waits].flatMap(([client, text]) => {
      const since = new Map(waitsIn(text)).get(key)
      return since === undefined ? [] : [{ client, waitedMs: Math.round(wall - since) }]
    })
  }
}

function newServer(store: RecordStore): RecordServer<RecordStore> {
  // The 0 is the lifetime of token counters. It has no effect, because an inspection acquires nothing.
  return new RecordServer(store, 0, CALL_MS, '', RECORD_KINDS)
}

function newClient(label: string, server: RecordServer<RecordStore>): Holdfast {
  const connect = connectToRecords(() => server)
  return new Holdfast({ label, presence: false }, connect)
}

/** True if the server refused a name because another kind uses the name. */
function isConflict(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof NameConflict
}

/** Returns a readable Error for a failure of the server; otherwise the error itself. */
function failureForUser(error: unknown): unknown {
  return error instanceof CallFailure
    ? new Error(error.message, { cause: error })
    : errorForUser(error)
}

/**
 * Returns the process of a client, or null for an unknown client. `seenMs` is 0, because a report
 * does not contain its time. The server may delete the report some minutes after the client has
 * ended.
 */
function processIn({ about }: Reports, client: string): ProcessFacts | null {
  const info = readClientInfo(client, about.get(client) ?? null)
  if (info === null) return null
  const { label, host, pid } = info
  return { client, label, host, pid, seenMs: 0, wireVersion: null }
}

function fenceOf(kind: RowKind, holders: readonly unknown[], token: number | null): number | null {
  return holders.length === 1 && viewOf(kind).hasFence !== false ? token : null
}
