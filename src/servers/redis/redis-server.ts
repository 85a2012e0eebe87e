import type { JointAnswer, LeaseToRenew } from '../answers.ts'
import { Outages } from '../availability/outages.ts'
import type { CallFailure } from '../call-failure.ts'
import type { Confirm } from '../durability.ts'
import type { LockServer } from '../lock-server.ts'
import type { PendingReleases } from '../pending-releases.ts'
import type { OwnInfo, Presence } from '../presence.ts'
import { endsInMs } from '../remaining.ts'
import type { RenewedLease } from '../renewed-lease.ts'
import type { RequestChannel } from '../request-channel.ts'
import type { KindClient, ServerKind } from '../server-kind.ts'
import type { Subscription } from '../subscription.ts'
import { groupBySlot, orderBySlot, slotOf } from './calls/cluster-slot.ts'
import { type LockKeys, lockAndCounter, lockKeys, requestsOf } from './calls/keys.ts'
import type { Closing, RedisKinds } from './calls/redis-kind.ts'
import { type Renewing, renewInGroups, renewingLocks } from './calls/renew.ts'
import { ScriptRunner } from './calls/script-runner.ts'
import { ServerClock } from './calls/server-clock.ts'
import { Connection } from './connection/connection.ts'
import type { RedisEvents, ServerDetails } from './connection/handshake.ts'
import { isClient, isCluster, labelOf, type RedisSource } from './connection/open-client.ts'
import { Probe } from './connection/probe.ts'
import { REDIS_WORDS } from './connection/redis-words.ts'
import { Subscriptions } from './connection/subscriptions.ts'
import { Confirmations } from './durability/confirmations.ts'
import { PendingReleasesBySlot } from './pending-releases-by-slot.ts'
import { Presences } from './presence/presences.ts'
import { RedisLock } from './redis-lock.ts'
import { converted } from './scripts/convert.ts'
import * as scripts from './scripts/lock.generated.ts'
import { odd } from './scripts/reading.ts'
import { ServerId } from './server-id.ts'
import type { ServerOptions } from './server-options.ts'

/** One server or cluster: its connections, its clock, and its locks. */
export class RedisServer implements LockServer {
  readonly #connection: Connection
  readonly #subscriptions: Subscriptions
  readonly #clock = new ServerClock()
  readonly #serverId: ServerId
  readonly #confirmations: Confirmations | undefined
  readonly #presences: Presences
  readonly #outages: Outages | undefined
  readonly #onUp = new Set<() => void>()
  /** How long a call in the background may take, in milliseconds. */
  readonly timeoutMs: number
  readonly #pendingReleases: PendingReleasesBySlot
  readonly #kinds: RedisKinds | undefined
  readonly #closings: Closing[] = []
  readonly source: RedisSource
  readonly words = REDIS_WORDS
  /** The address of the server, for messages. Left out for a cluster, which has several nodes. */
  readonly address?: string
  readonly runner: ScriptRunner
  readonly confirm: Confirm | undefined
  readonly requests: RequestChannel = {
    name: requestsOf('<id>'),
    send: async (clientId, message, callMs) => {
      const listeners = await this.publish(requestsOf(clientId), message, callMs)
      const { clustered, sharded } = this.#connection
      // Without sharded channels, a node of a cluster counts only its own listeners.
      return clustered && !sharded ? null : Number(listeners)
    },
    listen: (clientId, onMessage) =>
      this.#subscriptions.listen(requestsOf(clientId), true, onMessage, true),
  }

  constructor(
    source: RedisSource,
    timeoutMs: number,
    onError: (error: Error) => void,
    { counterMs = 0, sharded = true, durability, label = '', onOutage, kinds }: ServerOptions = {},
  ) {
    this.source = source
    this.timeoutMs = timeoutMs
    this.#kinds = kinds
    this.#pendingReleases = new PendingReleasesBySlot(timeoutMs, label)
    const settings = { source, silenceMs: timeoutMs, sharded }
    const probe = new Probe(settings)
    const address = labelOf(source)
    if (!(isClient(source) && isCluster(source))) this.address = address
    this.#outages = onOutage && new Outages(address, REDIS_WORDS, onOutage)
    const watched = (own: Partial<RedisEvents>): RedisEvents => {
      const events = { up: () => {}, down: () => {}, ...own }
      return this.#outages?.watch({ ...events, error: () => {} }) ?? { ...events, error: onError }
    }
    const reportUp = () => {
      for (const onUp of [...this.#onUp]) onUp()
    }
    const ofCommands = watched({
      up: (facts: ServerDetails) => {
        if (!this.#connection.clustered) this.#clock.set(facts.clockOffsetMs, facts.clockDoubtMs)
        this.#subscriptions.follow(facts.runId)
        this.#confirmations?.follow(facts.runId)
        this.#presences.onConnected()
        reportUp()
      },
      moved: reportUp,
    })
    this.#connection = new Connection(settings, ofCommands, probe)
    this.#presences = new Presences(this.#connection, timeoutMs)
    const terms = { counterMs, kinds }
    this.runner = new ScriptRunner(this.#connection, this.#clock, this.#presences, terms)
    this.#serverId = new ServerId(this.#connection)
    this.#subscriptions = new Subscriptions(settings, probe, watched)
    if (durability !== undefined) {
      const waits = { ...settings, silenceMs: timeoutMs + durability.timeoutMs }
      const ofWaits = watched({ up: () => this.#confirmations?.onConnected() })
      const waiting = new Connection(waits, ofWaits, new Probe(waits))
      this.#confirmations = new Confirmations(waiting, timeoutMs, durability)
    }
    this.confirm = this.confirmWith(renewingLocks(0))
  }

  lock(rawName: string): RedisLock {
    return new RedisLock(this, lockKeys(rawName))
  }

  acquireAll(
    locks: readonly { readonly rawName: string; readonly owner: string }[],
    leaseMs: number,
    callMs: number,
  ): Promise<JointAnswer> {
    const both = locks.flatMap(({ rawName }) => lockAndCounter(rawName))
    const owners = locks.map(({ owner }) => owner)
    const binding = converted(scripts.acquireAll, (answer): JointAnswer => {
      if (answer.kind === 'granted') return answer
      const { kind, ttlMs, n } = answer
      if (n > locks.length) throw odd()
      return { kind, ttlMs: endsInMs(ttlMs), index: n - 1 }
    })
    return this.runner.request(binding, { both }, { leaseMs, owners }, callMs)
  }

  renew(leases: readonly LeaseToRenew[], leaseMs: number, callMs: number): Promise<RenewedLease[]> {
    return renewInGroups(this, leases, renewingLocks(leaseMs), callMs)
  }

  /** @param renewing the script that reads the remaining times of leases of one kind */
  confirmWith(renewing: Renewing): Confirm | undefined {
    const confirmations = this.#confirmations
    return confirmations && ((lease) => confirmations.confirm({ renewing, lease }))
  }

  groups(locks: readonly { readonly rawName: string }[]): number[][] {
    return this.#connection.clustered ? groupBySlot(locks) : [[...locks.keys()]]
  }

  orderOf(rawName: string): string {
    return orderBySlot(rawName)
  }

  kind<R extends object>({ name }: ServerKind<R>, client: KindClient): R | undefined {
    return this.#kinds?.get(name)?.open(this, client) as R | undefined
  }

  presenceFor(own: OwnInfo): Presence {
    return this.#presences.of(own)
  }

  beforeClose(closing: Closing): void {
    this.#closings.push(closing)
  }

  /** Returns the pending releases of the slot of the lock. */
  pendingReleases(rawName: string): PendingReleases {
    return this.#pendingReleases.of(this.#connection.clustered ? slotOf(rawName) : 0)
  }

  /** Calls `onWake` with each message. A call without a message means that messages may have been lost. */
  listen({ channel }: Pick<LockKeys, 'channel'>, onWake: (message?: string) => void): Subscription {
    return this.#subscriptions.listen(channel, true, onWake)
  }

  /** Sends a message to all listeners of a channel, in its shard if channels are sharded. */
  publish(channel: string, message: string, callMs: number): Promise<unknown> {
    const connection = this.#connection
    return connection.call(callMs, (client) =>
      connection.sharded ? client.spublish(channel, message) : client.publish(channel, message),
    )
  }

  /** Listens like `listen`, but to the inbox of a client. Holdfast never shards this channel. */
  listenTo(inbox: string, onWake: (message?: string) => void): Subscription {
    return this.#subscriptions.listen(inbox, false, onWake)
  }

  get whyNoVote(): string | null {
    if (this.confirm !== undefined) {
      return 'belongs to a client with `durability`, which a majority of masters replaces'
    }
    const isOne = !(isClient(this.source) && isCluster(this.source))
    return isOne ? null : 'is a lock of a cluster, which is not an independent master'
  }

  get lateAtMostMs(): number {
    return this.runner.lateAtMostMs
  }

  identify(timeoutMs: number): Promise<string | null> {
    return this.#serverId.read(timeoutMs)
  }

  onUp(onUp: () => void): () => void {
    this.#onUp.add(onUp)
    return () => this.#onUp.delete(onUp)
  }

  connect(): void {
    this.#connection.connect()
  }

  /** Resolves when the first attempt to connect has succeeded or failed. */
  get known(): Promise<void> {
    return this.#connection.known
  }

  get whyDown(): CallFailure | undefined {
    return this.#connection.whyDown
  }

  get everUp(): boolean {
    return this.#connection.everUp
  }

  async quiet(): Promise<void> {
    await this.#pendingReleases.quiet()
    for (const closing of this.#closings) await closing.quiet()
  }

  disconnect(): void {
    this.#pendingReleases.stopAll()
    for (const closing of this.#closings) closing.stopTimer()
    this.#subscriptions.stopListening()
    this.#confirmations?.disconnect()
    this.#presences.withdrawAll()
    this.#connection.disconnect()
    this.#outages?.endAll()
  }
}
