import { Holdfast } from '../../src/index.ts'
import type { MemoryClientOptions } from '../../src/memory-client.ts'
import type { LockServer } from '../../src/servers/lock-server.ts'
import { MemoryPresence } from '../../src/servers/memory/memory-presence.ts'
import { MemoryRecordStore } from '../../src/servers/memory/memory-record-store.ts'
import type { MemoryLockServer } from '../../src/servers/memory/memory-server.ts'
import type { OwnInfo } from '../../src/servers/presence.ts'
import type {
  Changed,
  NameRecord,
  RecordStore,
  ServerMoment,
} from '../../src/servers/record-store.ts'
import { answerInTime, type CallReport } from '../../src/servers/records/answer-in-time.ts'
import { RecordServer } from '../../src/servers/records/record-server.ts'

type Change<T> = (records: readonly NameRecord[], moment: ServerMoment) => Changed<T>

/** The network between the clients and the server. A test can delay what passes, and counts. */
export const network = {
  /** How often another client was faster. */
  conflicts: 0,
  /** Each request waits for this before it reaches the server. */
  toServer: Promise.resolve(),
  /** Each answer waits for this before it reaches the client. */
  toClient: Promise.resolve(),
}

/** The clients run each change of a record: they read it, and write it if no other client has written it since. */
export class DistantStore implements RecordStore {
  readonly inner: MemoryRecordStore
  /** The last change of each record that this client has made or waits to make. */
  readonly #last = new Map<string, Promise<void>>()
  readonly countsListeners = false

  constructor(inner: MemoryRecordStore) {
    this.inner = inner
  }

  get words() {
    return this.inner.words
  }

  get clock() {
    return this.inner.clock
  }

  /** Each change waits for the earlier changes of this client to the same records. */
  transact<T>(names: readonly string[], callMs: number, change: Change<T>): Promise<T> {
    const earlier = names.map((name) => this.#last.get(name))
    const untilMs = this.clock.monotonic() + callMs
    const changed = answerInTime(this.clock, callMs, async (report) => {
      await Promise.all(earlier)
      return this.#transact(names, untilMs, change, report)
    })
    const settled = changed.then(
      () => {},
      () => {},
    )
    for (const name of names) this.#last.set(name, settled)
    return changed
  }

  async #transact<T>(
    names: readonly string[],
    untilMs: number,
    change: Change<T>,
    report: CallReport,
  ): Promise<T> {
    const { server, clock } = this.inner
    for (;;) {
      const sentAt = clock.monotonic()
      const { now, before } = await this.#request(() => ({
        now: server.now,
        before: names.map((name) => textOf(server.records.get(name))),
      }))
      const records = before.map(
        (text): NameRecord => (text === '' ? { parts: {} } : JSON.parse(text)),
      )
      const moment = { nowMs: now, steadyMs: now, aheadMs: now - sentAt, listeners: () => null }
      const { answer, messages } = change(records, moment)
      report.beforeChange()
      const isStored = await this.#request(() =>
        server.transact(names, (current) => {
          const isOther = current.some((record, n) => textOf(record) !== before[n])
          // The server refuses a late change, because the client has given up the call.
          if (isOther || clock.monotonic() > untilMs) return { answer: false, messages: [] }
          for (const [n, record] of current.entries()) replace(record, records[n] as NameRecord)
          return { answer: true, messages }
        }),
      )
      if (isStored) return answer
      report.changedNothing()
      network.conflicts += 1
    }
  }

  publish(channel: string, message: string, callMs: number): Promise<null> {
    return answerInTime(this.clock, callMs, async (report) => {
      report.beforeChange()
      await this.#request(() => this.inner.server.messages.publish(channel, message))
      return null
    })
  }

  listen(channel: string, onMessage: (message?: string) => void) {
    return this.inner.listen(channel, onMessage)
  }

  async #request<T>(work: () => T): Promise<T> {
    await network.toServer
    const answer = await this.inner.request(work)
    await network.toClient
    return answer
  }
}

/** '' if there is no record. */
function textOf(record: NameRecord | undefined): string {
  return record === undefined || Object.keys(record.parts).length === 0
    ? ''
    : JSON.stringify(record)
}

function replace(record: NameRecord, { parts, use, lastUs = 0 }: NameRecord): void {
  Object.assign(record, { use, lastUs })
  for (const part of Object.keys(record.parts)) delete record.parts[part]
  Object.assign(record.parts, parts)
}

class DistantServer extends RecordServer<DistantStore> implements LockServer {
  readonly whyNoVote = 'is a lock of a test'
  readonly lateAtMostMs = 0

  constructor(inner: MemoryRecordStore, counterMs: number, label: string) {
    super(new DistantStore(inner), counterMs, 1_000, label)
  }

  presenceFor(own: OwnInfo): MemoryPresence {
    return new MemoryPresence(this.store.inner, own)
  }

  identify(): Promise<string> {
    return this.store.inner.request(() => this.store.inner.server.id)
  }

  get whyDown() {
    return this.store.inner.whyDown
  }

  get everUp(): boolean {
    return this.store.inner.server.whyOut === undefined
  }

  onUp(onUp: () => void): () => void {
    return this.store.inner.onUp(onUp)
  }

  connect(): void {
    this.store.inner.connect()
  }

  disconnect(): void {
    this.pendingReleases.stopAll()
    this.store.inner.disconnect()
  }
}

/**
 * A client of a server in memory that treats it as a distant server without scripts: it reads a record, changes it and
 * writes it. The server cannot count listeners.
 */
export function newDistantClient(
  server: MemoryLockServer,
  options: MemoryClientOptions = {},
): Holdfast {
  return new Holdfast(options, ({ counterTtlMs, label }, events) => {
    const connection = new DistantServer(new MemoryRecordStore(server, events), counterTtlMs, label)
    return {
      server: connection,
      clock: server.clock,
      keyPrefix: '',
      clustered: false,
      disconnect: async () => connection.disconnect(),
    }
  })
}
