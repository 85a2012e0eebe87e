import type { Cluster, Redis } from 'ioredis'
import type { CallFailure } from '../../call-failure.ts'
import { promised, type Reply } from '../../reply.ts'
import { masterOf } from '../connection/cluster-nodes.ts'
import type { Connection } from '../connection/connection.ts'
import type { RedisClient } from '../connection/open-client.ts'
import type { Binding, GivenSource } from '../scripts/script.ts'
import type { Terms } from '../scripts/terms.ts'
import { Batch } from './batch.ts'
import { FAIR_LOCKS, LOCKS } from './batch-scripts.ts'
import { slotOf } from './cluster-slot.ts'
import { NodeClocks } from './node-clocks.ts'
import type { OwnListeners } from './own-listeners.ts'
import { ScriptCall, type SentCall } from './script-call.ts'
import type { ServerClock } from './server-clock.ts'
import { ConnectionTerms } from './terms.ts'
import { explained, type KeysOfKinds } from './wrong-type.ts'

/** The timeout of one query about a refused name, in milliseconds. */
const EXPLAIN_MS = 500

/** Receives the time of each request that runs scripts, on `performance.now()`. */
interface OnSend {
  touch(now: number): void
}

/**
 * Runs scripts on one server or cluster. A script with a deadline does not run long after its
 * caller has given up.
 */
export class ScriptRunner {
  readonly #kinds: KeysOfKinds
  readonly #connection: Connection
  readonly #clock: ServerClock
  readonly #onSend: OnSend
  readonly #ofNodes = new NodeClocks()
  readonly #terms: ConnectionTerms
  readonly #batches = [LOCKS, FAIR_LOCKS].map(
    (script) => new Batch<SentCall>(script, this, (failure) => this.#connection.refused(failure)),
  )

  /**
   * @param counterMs how long a token counter is kept after its last use, in milliseconds; 0 means
   * forever
   */
  constructor(
    connection: Connection,
    clock: ServerClock,
    onSend: OnSend,
    { counterMs, kinds = new Map() }: { counterMs: number; kinds?: KeysOfKinds | undefined },
  ) {
    this.#kinds = kinds
    this.#connection = connection
    this.#onSend = onSend
    this.#clock = clock
    this.#terms = new ConnectionTerms(connection, counterMs)
  }

  /** The id of the server's process; '' if the server does not report an id. */
  get runId(): string {
    return this.#connection.runId
  }

  /** True if a request is in flight. */
  get isBusy(): boolean {
    return this.#connection.isBusy
  }

  get clustered(): boolean {
    return this.#connection.clustered
  }

  /**
   * Returns how many of the listeners that a script counts on a channel belong to this client. In a
   * cluster without sharded channels, a node does not count the listeners at other nodes. Then the
   * result is -1, which adds one listener.
   *
   * @param listens true if this client listens to the channel
   */
  ownListeners(listens: boolean | undefined): OwnListeners {
    const { clustered, sharded } = this.#connection
    if (clustered && !sharded) return -1
    return listens === true ? 1 : 0
  }

  /** Returns the estimated clock of the server that has the key. */
  clockFor(key: string): ServerClock {
    const { clustered, client } = this.#connection
    return this.clockOf(clustered ? masterOf(client as Cluster, slotOf(key)) : undefined)
  }

  /** The server may run a request up to this long after the deadline, in milliseconds. */
  get lateAtMostMs(): number {
    return Math.max(this.#clock.lateAtMostMs, this.#ofNodes.lateAtMostMs)
  }

  /** Sends a command that is not a script. */
  raw<T>(timeoutMs: number, send: (client: RedisClient) => Promise<T>): Promise<T> {
    return this.#connection.call(timeoutMs, send)
  }

  /**
   * Runs a script. Several calls that are made at once may share one request.
   *
   * @param callMs how long the whole call may take, in milliseconds
   */
  run<Names, Given, A>(
    binding: Binding<Names, Given, NoInfer<A>>,
    names: NoInfer<Names>,
    given: GivenSource<NoInfer<Given>>,
    callMs: number,
    reply: Reply<A>,
  ): void {
    const call = new ScriptCall(this, binding, names, given, callMs, reply)
    const batch = this.#batchFor(call)
    if (batch === undefined) {
      this.sendAlone(call)
      return
    }
    for (const other of this.#batches) if (other !== batch) other.sendBefore(call.keys)
    batch.add(call)
  }

  #batchFor(call: SentCall): Batch<SentCall> | undefined {
    const { isBusy, clustered } = this.#connection
    return clustered ? undefined : this.#batches.find((batch) => batch.takes(call, isBusy))
  }

  /** @returns the answer; rejects only with a `CallFailure` */
  request<Names, Given, A>(
    binding: Binding<Names, Given, A>,
    names: NoInfer<Names>,
    given: GivenSource<NoInfer<Given>>,
    callMs: number,
  ): Promise<A> {
    return promised((reply) => this.run(binding, names, given, callMs, reply))
  }

  /** @internal */
  sendAlone(call: SentCall): void {
    for (const batch of this.#batches) batch.sendBefore(call.keys)
    const now = performance.now()
    this.#connection.send(call, Math.max(1, call.endsAt - now))
    this.#onSend.touch(now)
  }

  /** @internal */
  explain(failure: CallFailure, { script, keys }: SentCall): Promise<CallFailure> {
    return explained(failure, script.name, keys, (send) => this.raw(EXPLAIN_MS, send), this.#kinds)
  }

  /** @internal */
  clockOf(node?: Redis): ServerClock {
    return node === undefined ? this.#clock : this.#ofNodes.of(node)
  }

  /** @internal */
  termsUntil(endsAt: number, clock: ServerClock): Terms {
    this.#terms.notAfterUs = clock.inUs(endsAt - performance.now())
    return this.#terms
  }
}

/** The part of a server that commands use. */
export interface ScriptServer {
  readonly runner: ScriptRunner
}
