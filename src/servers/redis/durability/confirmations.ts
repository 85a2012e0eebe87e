import { setImmediate as turn } from 'node:timers/promises'
import type { Durability } from '../../../options/durability.ts'
import { CallFailure } from '../../call-failure.ts'
import type { Confirmation } from '../../durability.ts'
import type { RenewedLease } from '../../renewed-lease.ts'
import { promised, type Reply } from '../../reply.ts'
import { ConnectionTerms } from '../calls/terms.ts'
import type { Connection } from '../connection/connection.ts'
import type { RedisClient } from '../connection/open-client.ts'
import type { Terms } from '../scripts/terms.ts'
import {
  type Confirmed,
  confirm,
  connectedReplicas,
  moved,
  nodeKeyOf,
  type UnconfirmedGrant,
} from './confirm-call.ts'

interface OpenConfirmation extends UnconfirmedGrant {
  readonly reply: Reply<Confirmation>
}

/**
 * Checks whether replicas have the grants. Uses its own connection, because WAIT delays all later
 * commands on a connection. Each node runs one WAIT at a time, and later grants share the next
 * WAIT.
 */
export class Confirmations {
  readonly #connection: Connection
  readonly #durability: Durability
  readonly #commandTimeoutMs: number
  readonly #terms: Terms
  /** The grants that wait for the next WAIT, by node. */
  readonly #open = new Map<string, OpenConfirmation[]>()
  /**
   * The id of the server process that gets the commands. '' if unknown, or if the connection was
   * already replaced because of this id.
   */
  #server = ''

  /**
   * @param connection a connection that no other object uses
   * @param commandTimeoutMs how long a command may take, in milliseconds; WAIT may take `timeoutMs`
   * of the durability in addition
   */
  constructor(connection: Connection, commandTimeoutMs: number, durability: Durability) {
    this.#connection = connection
    this.#durability = durability
    this.#commandTimeoutMs = commandTimeoutMs
    this.#terms = new ConnectionTerms(this.#connection, 0)
  }

  async confirm(granted: UnconfirmedGrant): Promise<Confirmation> {
    // The node is known only after the connection is up.
    if (!this.#connection.up) await this.#call(async () => {})
    return promised((reply) => this.#add({ ...granted, reply }))
  }

  /**
   * Reconnects if the commands go, or may go, to another server process than this connection. The
   * replicas of another server prove nothing. If the connection is not up yet, `isUp` checks later.
   *
   * @param runId the id of the process that runs the commands; '' if the server does not report an id
   */
  follow(runId: string): void {
    this.#server = runId
    this.#connection.connect()
    const { runId: own } = this.#connection
    if (runId === '' || own === '') this.#reconnect()
    else this.onConnected()
  }

  /** Called when the connection is up. Replaces the connection if the commands go to another server. */
  onConnected(): void {
    const { up, runId } = this.#connection
    if (!up || this.#server === '' || runId === '' || runId === this.#server) return
    // Replaces the connection only once, because a proxy may send each connection to another
    // server.
    this.#server = ''
    this.#reconnect()
  }

  #reconnect(): void {
    if (this.#connection.clustered) return
    this.#connection.reconnect(new CallFailure('unsent', 'the commands go to another server'))
  }

  disconnect(): void {
    this.#connection.disconnect()
  }

  #add(one: OpenConfirmation): void {
    const node = nodeKeyOf(this.#connection.client, one.lease.rawName)
    const others = this.#open.get(node)
    if (others !== undefined) {
      others.push(one)
      return
    }
    this.#open.set(node, [one])
    void this.#work(node)
  }

  async #work(node: string): Promise<void> {
    // Waits until the end of this turn of the event loop, so that grants that arrive together share
    // a WAIT.
    await turn()
    for (let all = this.#open.get(node) ?? []; all.length > 0; all = this.#open.get(node) ?? []) {
      this.#open.set(node, [])
      await this.#confirm(all)
    }
    this.#open.delete(node)
  }

  async #confirm(all: readonly OpenConfirmation[]): Promise<void> {
    const { replicas: wanted, timeoutMs } = this.#durability
    const { rawName } = (all[0] as OpenConfirmation).lease
    try {
      const listed = wanted === 'all' ? await this.#listed(rawName) : undefined
      // 'all' means at least one replica, even if no replica is connected.
      const least = wanted === 'all' ? Math.max(listed ?? 0, 1) : wanted
      const { replicas, fsynced, remaining } = listed === 0 ? NONE : await this.#wait(all, least)
      if (replicas < least || fsynced === false) {
        const connected = listed ?? (await this.#connected(rawName).catch(() => undefined))
        const found = { wanted, confirmed: replicas, connected, fsynced, timeoutMs }
        for (const { reply } of all) reply.answered({ kind: 'short', ...found })
        return
      }
      for (const [i, { reply }] of all.entries()) answerWith(reply, remaining[i] as RenewedLease)
    } catch (failure) {
      for (const { reply } of all) reply.failed(failure as CallFailure)
    }
  }

  #wait(all: readonly OpenConfirmation[], least: number): Promise<Confirmed> {
    const { timeoutMs } = this.#durability
    const copies = { ...this.#durability, replicas: least }
    return this.#call(
      (client) => confirm(client, all, copies, this.#terms),
      timeoutMs + this.#commandTimeoutMs,
    )
  }

  /**
   * Returns how many replicas 'all' means. Rejects if the master does not report the number of its
   * replicas.
   */
  async #listed(key: string): Promise<number> {
    const listed = await this.#connected(key)
    if (listed !== undefined) return listed
    throw new CallFailure('unknown', 'its INFO does not show how many replicas are connected')
  }

  #connected(key: string): Promise<number | undefined> {
    return this.#call((client) => connectedReplicas(client, key))
  }

  #call<T>(send: (client: RedisClient) => Promise<T>, callMs = this.#commandTimeoutMs): Promise<T> {
    return this.#connection.call(callMs, (client) =>
      send(client).catch((error: Error) => {
        if (!/^(MOVED|ASK) /.test(error.message)) throw error
        throw moved(client, error.message, error)
      }),
    )
  }
}

const NONE: Confirmed = { replicas: 0, fsynced: undefined, remaining: [] }

/** @param remaining the remaining time of the lease, read after the replicas have confirmed the grant */
function answerWith(reply: Reply<Confirmation>, remaining: RenewedLease): void {
  if (remaining instanceof CallFailure) reply.failed(remaining)
  else reply.answered({ kind: remaining === 'gone' ? 'gone' : 'confirmed' })
}
