import { connectToRecords } from '../../src/connect-records.ts'
import { Holdfast } from '../../src/index.ts'
import type { MemoryClientOptions } from '../../src/memory-client.ts'
import { MemoryRecordStore } from '../../src/servers/memory/memory-record-store.ts'
import { MemoryLockServer } from '../../src/servers/memory/memory-server.ts'
import type { Changed, NameRecord, ServerMoment } from '../../src/servers/record-store.ts'
import { answerInTime, type CallOutcome } from '../../src/servers/records/answer-in-time.ts'
import { RECORD_KINDS } from '../../src/servers/records/kinds/all.ts'
import { RecordServer } from '../../src/servers/records/record-server.ts'

type Change<T> = (records: readonly NameRecord[], moment: ServerMoment) => Changed<T>

/**
 * The network between the clients and the server. A test can delay requests and answers. The network counts conflicts.
 */
export const network = {
  /** How often another client had changed a record first, so that a change was repeated. */
  conflicts: 0,
  /** Each request waits for this before it reaches the server. */
  toServer: Promise.resolve(),
  /** Each answer waits for this before it reaches the client. */
  toClient: Promise.resolve(),
}

/**
 * The clients run each change of a record: they read it, and write it if no other client has written it since. The
 * server cannot count listeners.
 */
export class DistantStore extends MemoryRecordStore {
  /** The last change of each record that this client has made or waits to make. */
  readonly #last = new Map<string, Promise<void>>()
  override readonly countsListeners = false

  /** Each change waits for the earlier changes of this client to the same records. */
  override transact<T>(names: readonly string[], callMs: number, change: Change<T>): Promise<T> {
    const earlier = names.map((name) => this.#last.get(name))
    const untilMs = this.clock.monotonic() + callMs
    const changed = answerInTime(this.clock, callMs, async (outcome) => {
      await Promise.all(earlier)
      return this.#transact(names, untilMs, change, outcome)
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
    outcome: CallOutcome,
  ): Promise<T> {
    const { server, clock } = this
    for (;;) {
      const sentAt = clock.monotonic()
      const { now, before } = await this.#reach(() => ({
        now: server.now,
        before: names.map((name) => textOf(server.records.get(name))),
      }))
      const records = before.map(
        (text): NameRecord => (text === '' ? { parts: {} } : JSON.parse(text)),
      )
      const moment = { nowMs: now, steadyMs: now, aheadMs: now - sentAt, listeners: () => null }
      const { answer, messages } = change(records, moment)
      outcome.beforeChange()
      const isStored = await this.#reach(() =>
        server.transact(names, (current) => {
          const isOther = current.some((record, n) => textOf(record) !== before[n])
          // The server refuses a late change, because the client has given up the call.
          if (isOther || clock.monotonic() > untilMs) return { answer: false, messages: [] }
          for (const [n, record] of current.entries()) replace(record, records[n] as NameRecord)
          return { answer: true, messages }
        }),
      )
      if (isStored) return answer
      outcome.changedNothing()
      network.conflicts += 1
    }
  }

  override async publish(channel: string, message: string, callMs: number): Promise<null> {
    await super.publish(channel, message, callMs)
    return null
  }

  override request<T>(work: () => T, callMs: number): Promise<T> {
    return answerInTime(this.clock, callMs, (outcome) => {
      outcome.beforeChange()
      return this.#reach(work)
    })
  }

  /** Sends a request over the network, without a time limit. */
  async #reach<T>(work: () => T): Promise<T> {
    await network.toServer
    const answer = await super.request(work, 0)
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

/** A server without clients. Its clock has microseconds, as the clock of a database has. */
export function newDistantServer(): MemoryLockServer {
  return new MemoryLockServer(() => performance.timeOrigin + performance.now())
}

/** The time limit of requests in the background, in milliseconds. */
const CALL_MS = 1_000

/**
 * A client of a server in memory that treats it as a distant server without scripts: it reads a record, changes it and
 * writes it.
 */
export function newDistantClient(
  server: MemoryLockServer,
  options: MemoryClientOptions = {},
): Holdfast {
  const connect = connectToRecords(
    ({ counterTtlMs, label }, events) =>
      new RecordServer(
        new DistantStore(server, events),
        counterTtlMs,
        CALL_MS,
        label,
        RECORD_KINDS,
      ),
  )
  return new Holdfast(options, connect)
}
