import { type Holdfast, RedisRefusedError } from '../../../src/index.ts'
import { newMemoryClient } from '../../../src/memory-client.ts'
import { CallFailure } from '../../../src/servers/call-failure.ts'
import { MemoryConnection } from '../../../src/servers/memory/memory-connection.ts'
import type { MemoryLockServer } from '../../../src/servers/memory/memory-server.ts'
import { readClientInfo } from '../../../src/servers/presence.ts'
import { lastToken } from '../../../src/servers/records/counter.ts'
import { changeRecord } from '../../../src/servers/records/open-record.ts'
import { READ_WRITE } from '../../../src/servers/records/read-write-requests.ts'
import { ABOUT, WAITS } from '../../../src/servers/records/record-presence.ts'
import { type RowKind, viewOf } from '../../kinds/all.ts'
import { newDetail, withProcesses } from '../conclude.ts'
import { matcherOf } from '../glob.ts'
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
import { waitsIn } from '../reported-waits.ts'
import { errorForUser, labelOf, requestRelease } from '../request-release.ts'
import { rowOf } from '../row-of.ts'
import { READ_KINDS } from './kinds.ts'

/** The most locks of one chunk of a list. */
const AT_A_TIME = 100

/**
 * The time limit of a request, in milliseconds. A server in memory answers at once, so any limit is
 * enough.
 */
const CALL_MS = 1_000

/** The reports of all clients, by client id. */
interface Reports {
  readonly about: ReadonlyMap<string, string>
  readonly waits: ReadonlyMap<string, string>
}

/** Inspects the locks of a server in memory, with the requests that every client can send. */
export class MemoryInspection implements Inspection {
  readonly address = 'memory'
  readonly unreachable = []
  readonly isIncomplete = false
  readonly #server: MemoryLockServer
  readonly #client: Holdfast
  readonly #connection: MemoryConnection
  #commands = 0

  constructor(server: MemoryLockServer) {
    this.#server = server
    this.#client = newMemoryClient(server, { label: 'inspection', presence: false })
    this.#connection = new MemoryConnection(server, 0)
  }

  get cost() {
    return { commands: this.#commands, bytes: 0, tookMs: 0 }
  }

  async *list({ pattern, heldOnly = false, signal }: ListOptions = {}) {
    const isMeant = pattern === undefined ? () => true : matcherOf(pattern)
    const keys = [...this.#server.records.keys()].filter(isMeant)
    for (let i = 0; i < keys.length; i += AT_A_TIME) {
      signal?.throwIfAborted()
      const rows = await this.read(keys.slice(i, i + AT_A_TIME))
      yield rows.filter(({ holders }) => !heldOnly || holders.length > 0)
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
    const found = await this.#find(key)
    if (found === null) return null
    const token = await changeRecord(this.#connection.store, key, CALL_MS, lastToken)
    const detail = newDetail(key, found.kind, token || null, found)
    const processOf = (client: string) => processIn(reports, client)
    return withProcesses(detail, processOf, this.#waitersFor(key, reports))
  }

  async forceRelease(key: string, seen: SeenHolder): Promise<Forced> {
    const found = await this.inspect(key)
    const { kind = 'lock', holders = [], token = null } = found ?? {}
    refuseForce(kind, key, seen.owner, holders)
    const isReleased = await this.#release(kind, key, seen, holders)
    if (isReleased) return { outcome: 'released', fence: fenceOf(kind, holders, token) }
    return { outcome: kind === 'permits' || holders.length === 0 ? 'free' : 'changed', fence: null }
  }

  requestRelease(key: string, owners: readonly string[], reason: ReleaseReason) {
    const client = newMemoryClient(this.#server, { label: labelOf(reason), presence: false })
    return requestRelease(client, key, owners, reason)
  }

  async close(): Promise<void> {
    this.#connection.disconnect()
    await this.#client.close()
  }

  /**
   * Tries the kinds one after the other. Returns the state from the first kind that has this name,
   * or null.
   */
  async #find(key: string): ReturnType<(typeof READ_KINDS)[number]> {
    const { now, whyOut } = this.#server
    if (whyOut !== undefined) throw new Error(whyOut.message)
    for (const read of READ_KINDS) {
      this.#commands++
      try {
        const found = await read(this.#client, key, now)
        if (found !== null) return found
      } catch (error) {
        // The client refuses the name, because another kind uses the name.
        if (!(error instanceof RedisRefusedError)) throw errorForUser(error)
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
      return this.#connection.kind(READ_WRITE, own).lock(key).forceRelease(owner, CALL_MS)
    }
    return this.#connection.lock(key).forceRelease({ owner, token }, CALL_MS)
  }

  async #readReports(): Promise<Reports> {
    const { reports } = this.#connection.store
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

  /** Returns the clients that reported a wait for this lock. */
  #waitersFor(key: string, { waits }: Reports) {
    const { wall } = this.#connection.store.clock.now()
    return [...waits].flatMap(([client, text]) => {
      const since = new Map(waitsIn(text)).get(key)
      return since === undefined ? [] : [{ client, waitedMs: Math.round(wall - since) }]
    })
  }
}

/** Returns a failure of the server as a readable Error. */
function failureForUser(error: unknown): unknown {
  return error instanceof CallFailure
    ? new Error(error.message, { cause: error })
    : errorForUser(error)
}

/**
 * Returns the process of a client, or null for an unknown client. `seenMs` is 0, because the server
 * has only the reports of connected clients.
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
