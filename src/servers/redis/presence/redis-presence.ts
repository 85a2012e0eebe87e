import type { Redis } from 'ioredis'
import type { CallFailure } from '../../call-failure.ts'
import { clientOf } from '../../owner-id.ts'
import { type ClientInfo, type OwnInfo, type Presence, readClientInfo } from '../../presence.ts'
import { WIRE_FORMAT, warnOfConflict } from '../../wire-version.ts'
import { clientKey } from '../calls/keys.ts'
import { ConnectionTerms } from '../calls/terms.ts'
import type { Connection } from '../connection/connection.ts'
import { failureOf } from '../connection/failure-of.ts'
import type { RedisClient } from '../connection/open-client.ts'
import { touch } from '../scripts/presence.generated.ts'
import type { Terms } from '../scripts/terms.ts'
import { ClientNotes, type NoteChange } from './client-notes.ts'

/** The usual shortest pause between two reports, in milliseconds. Changed notes or a reconnect cause an earlier report. */
const TOUCH_MS = 20_000

/** The pause after a failed report, in milliseconds. */
const AGAIN_MS = 1_000

/** The shortest time for which a report stays readable, in milliseconds. */
const KNOWN_MS = 120_000

/**
 * Reports one client to one server or cluster. Usually sends a report after another request, so
 * that no call waits for the report. Repeats a failed report later, but stops after a permanent
 * refusal.
 */
export class RedisPresence implements Presence {
  readonly #connection: Connection
  readonly #terms: Terms
  readonly #timeoutMs: number
  readonly #key: string
  readonly #about: string
  readonly #notes: ClientNotes
  readonly #closed: () => void
  #leaseMs: number
  #dueAt = -Infinity
  #isThere = false
  /** True if this client never reports, or has stopped reporting. */
  #isOver: boolean
  #hasWarned = false

  /** @param closed called when the client withdraws its report */
  constructor(
    connection: Connection,
    timeoutMs: number,
    { info, leaseMs, tells }: OwnInfo,
    closed: () => void,
  ) {
    const { client, ...about } = info
    this.#connection = connection
    this.#terms = new ConnectionTerms(connection, 0)
    this.#closed = closed
    this.#timeoutMs = timeoutMs
    this.#key = clientKey(client)
    this.#about = JSON.stringify({ ...about, wire: WIRE_FORMAT })
    this.#notes = new ClientNotes(() => this.#send(performance.now()))
    this.#leaseMs = leaseMs
    this.#isOver = !tells
  }

  /**
   * Called when the client sends a request, at `now` on `performance.now()`. Sends a report if one
   * is due.
   */
  touch(now: number): void {
    if (now >= this.#dueAt) this.#send(now)
  }

  onConnected(now: number): void {
    this.#dueAt = -Infinity
    this.touch(now)
  }

  renews(leaseMs: number): void {
    if (leaseMs <= this.#leaseMs) return
    this.#leaseMs = leaseMs
    // A report sets the expiry of the entry. A long lease needs a later expiry, so the client
    // reports at once.
    if (2 * leaseMs > KNOWN_MS) this.#dueAt = -Infinity
    this.touch(performance.now())
  }

  set(owner: string, text: string | undefined): void {
    if (this.#isOver) return
    if (text === undefined) this.#notes.removeNote(owner)
    else this.#notes.set(owner, text)
  }

  reportWaits(waits: string): void {
    this.set('waits', waits)
  }

  async get(owner: string): Promise<string | undefined> {
    const own = this.#notes.get(owner)
    if (own !== undefined) return own
    const field = `note/${owner}`
    const found = await this.#read(clientOf(owner), field, this.#timeoutMs).catch(() => null)
    return found ?? undefined
  }

  async clientInfo(clientId: string, callMs: number): Promise<ClientInfo | null> {
    const about = await this.#read(clientId, 'about', callMs)
    const info = readClientInfo(clientId, about)
    this.#hasWarned ||= warnOfConflict(info?.label ?? clientId, about)
    return info
  }

  /** Deletes the entry of this client with one last request, if the connection is up. */
  withdraw(): void {
    const connection = this.#connection
    if (this.#isThere && connection.up) connection.client.del(this.#key).catch(() => {})
    this.#isThere = false
    this.#stop()
    this.#closed()
  }

  #read(clientId: string, field: string, callMs: number): Promise<string | null> {
    return this.#connection.call(callMs, (client) => client.hget(clientKey(clientId), field))
  }

  #send(now: number): void {
    if (this.#isOver || !this.#connection.up) return
    this.#dueAt = now + TOUCH_MS
    this.#isThere = true
    const notes = this.#notes.takeChanges()
    const clockMs = Date.now()
    const given = { leaseMs: this.#keptMs, about: this.#about, clockMs, notes }
    const names = { client: this.#key }
    const args = touch.argsOf(given, this.#terms, names).map(String)
    const send = (name: 'eval' | 'evalsha', script: string) =>
      runOn(this.#connection.client, name, script, this.#key, args)
    void send('evalsha', touch.script.sha1)
      .catch((error: Error) => {
        if (!error.message.startsWith('NOSCRIPT')) throw error
        return this.#isOver ? undefined : send('eval', touch.script.source)
      })
      .catch((error) => this.#failed(failureOf(error), notes))
  }

  #failed({ kind, permanent }: CallFailure, notes: readonly NoteChange[]): void {
    if (kind !== 'refused' || !permanent) {
      this.#dueAt = Math.min(this.#dueAt, performance.now() + AGAIN_MS)
      this.#notes.giveBack(notes)
      return
    }
    // A client without the right to report must not fill the log of the server.
    this.#isThere = false
    this.#stop()
  }

  #stop(): void {
    this.#isOver = true
    this.#notes.stopSending()
  }

  get #keptMs(): number {
    return Math.max(KNOWN_MS, 2 * this.#leaseMs)
  }
}

function runOn(
  client: RedisClient,
  name: 'eval' | 'evalsha',
  script: string,
  key: string,
  args: readonly string[],
): Promise<unknown> {
  return (client as Redis)[name](script, 1, key, ...args)
}
