import type { JointAnswer, LeaseToRenew } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import type { ElectionChannel } from '../election-channel.ts'
import type { FairServer } from '../fair-server.ts'
import type { LockServer } from '../lock-server.ts'
import type { Outage, OutageListener } from '../outage.ts'
import { PendingReleases } from '../pending-releases.ts'
import type { OwnInfo, Presence } from '../presence.ts'
import type { ReadWriteServer } from '../read-write-server.ts'
import type { RenewedLease } from '../renewed-lease.ts'
import type { RequestChannel } from '../request-channel.ts'
import type { KindClient, ServerKind } from '../server-kind.ts'
import type { Subscription } from '../subscription.ts'
import { acquireAll } from './acquire-all.ts'
import type { Channels } from './channels.ts'
import { later } from './later.ts'
import { MemoryFairServer } from './memory-fair-server.ts'
import { MemoryLock } from './memory-lock.ts'
import { MemoryPresence } from './memory-presence.ts'
import { MemoryReadWriteServer } from './memory-read-write-server.ts'
import { type MemoryLockServer, OUT } from './memory-server.ts'
import { MemoryRecordStore } from './record-store.ts'

/** The failure of a request that the server ran before an outage and could not answer. */
const LOST = new CallFailure('unknown', 'the server in memory went down before it answered')

/**
 * The connection of one client to a server in memory. The server runs a request when the client
 * sends it, and answers in a later turn of the event loop. Only an outage loses answers.
 */
export class MemoryConnection implements LockServer {
  readonly server: MemoryLockServer
  /**
   * How long the server remembers a token after the last use of the lock, in milliseconds; 0 means
   * forever.
   */
  readonly counterMs: number
  readonly whyNoVote = 'is a lock in memory, which is not an independent master'
  readonly lateAtMostMs = 0
  readonly countsListeners = true
  /** Each release has a time limit of 0 ms, because an answer takes no time. */
  readonly pendingReleases: PendingReleases
  readonly #onUp = new Set<() => void>()
  /** The work of the kinds when this client closes. */
  readonly #closings: (() => Promise<void>)[] = []
  #presence: MemoryPresence | undefined
  #connected = false
  /**
   * When this connection noticed the outage, in ms on the monotonic clock; undefined if there is no
   * outage.
   */
  #outSince: number | undefined
  readonly #onOutage: OutageListener | undefined
  #closed: CallFailure | undefined

  /** @param label the label of the client, for messages on diagnostics channels */
  constructor(server: MemoryLockServer, counterMs: number, label = '', onOutage?: OutageListener) {
    this.#onOutage = onOutage
    this.server = server
    this.counterMs = counterMs
    this.pendingReleases = new PendingReleases(0, label, server.clock)
  }

  request<T>(work: (now: number) => T): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed)
    if (!this.#connected) this.connect()
    const { server } = this
    const { clock, whyOut } = server
    if (whyOut !== undefined) {
      this.wentOut()
      return new Promise((_, reject) => later(clock, () => reject(whyOut)))
    }
    server.tidy()
    return new Promise((resolve, reject) => {
      const answered = (deliver: () => void) =>
        later(clock, () => (server.whyOut === undefined ? deliver() : reject(LOST)))
      try {
        const answer = work(server.now)
        answered(() => resolve(answer))
      } catch (refusal) {
        answered(() => reject(refusal))
      }
    })
  }

  /** Calls `onMessage` with each message, and once at the beginning without a message. */
  listen<M>(channels: Channels<M>, name: string, onMessage: (message?: M) => void): Subscription {
    if (this.#closed !== undefined) return { confirmed: false, stop: () => {} }
    return channels.listen(name, this, onMessage)
  }

  lock(rawName: string): MemoryLock {
    return new MemoryLock(this, rawName)
  }

  fairFor(clientId: string, label: string): FairServer {
    return new MemoryFairServer(this, clientId, label)
  }

  readWriteFor(clientId: string): ReadWriteServer {
    return new MemoryReadWriteServer(this, clientId)
  }

  kind<R extends object>(kind: ServerKind<R>, client: KindClient): R {
    const { counterMs, pendingReleases } = this
    const store = new MemoryRecordStore(this)
    const beforeClose = (work: () => Promise<void>) => void this.#closings.push(work)
    return kind.onRecords({ ...client, store, counterMs, pendingReleases, beforeClose })
  }

  electionChannel(rawName: string): ElectionChannel {
    const { elections } = this.server
    return {
      announce: (token) => this.request(() => elections.publish(rawName, String(token))),
      listen: (onChange) => this.listen(elections, rawName, () => onChange()),
    }
  }

  get requests(): RequestChannel {
    const { revocations } = this.server
    return {
      send: (clientId, message) => this.request(() => revocations.publish(clientId, message)),
      listen: (clientId, onMessage) => this.listen(revocations, clientId, onMessage),
    }
  }

  presenceFor(own: OwnInfo): Presence {
    this.#presence = new MemoryPresence(this, own)
    return this.#presence
  }

  renew(leases: readonly LeaseToRenew[], leaseMs: number): Promise<RenewedLease[]> {
    return this.request((now) =>
      leases.map(({ key, wireOwner }) => {
        const record = this.server.record(key, now)
        if (record.heldBy(wireOwner) === null) return 'gone'
        if (leaseMs > 0) {
          record.lengthen(leaseMs, this.counterMs, now)
          record.extendCounter(leaseMs, this.counterMs, now)
        }
        return record.ttlMs(now)
      }),
    ).catch((failure: CallFailure) => leases.map(() => failure))
  }

  acquireAll(
    locks: readonly { readonly rawName: string; readonly owner: string }[],
    leaseMs: number,
  ): Promise<JointAnswer> {
    return this.request((now) => acquireAll(this, locks, leaseMs, now))
  }

  /** Returns one group, because one request can handle all locks. */
  groups(locks: readonly { readonly key: string }[]): number[][] {
    return [[...locks.keys()]]
  }

  /** Returns an empty text, so that only the names of the locks decide their order. */
  orderOf(): string {
    return ''
  }

  identify(): Promise<string> {
    return this.request(() => this.server.id)
  }

  get whyDown(): CallFailure | undefined {
    return this.#closed ?? this.server.whyOut
  }

  /** True unless there is an outage now. */
  get everUp(): boolean {
    return this.server.whyOut === undefined
  }

  onUp(onUp: () => void): () => void {
    this.#onUp.add(onUp)
    return () => this.#onUp.delete(onUp)
  }

  wentOut(): void {
    if (this.#outSince !== undefined || this.#closed !== undefined) return
    this.#outSince = this.server.clock.monotonic()
    this.#onOutage?.outageBegan(this.#outage(0))
  }

  cameBack(how: 'recovered' | 'closed' = 'recovered'): void {
    if (this.#outSince === undefined) return
    const durationMs = Math.round(this.server.clock.monotonic() - this.#outSince)
    this.#outSince = undefined
    this.#onOutage?.outageEnded(this.#outage(durationMs), how)
  }

  #outage(durationMs: number): Outage {
    return { address: 'memory', failure: OUT, durationMs, attempts: 1 }
  }

  lookAgain(): void {
    for (const onUp of [...this.#onUp]) onUp()
  }

  connect(): void {
    this.#connected = true
    this.server.join(this)
  }

  async quiet(): Promise<void> {
    await this.pendingReleases.quiet()
    for (const work of this.#closings) await work()
  }

  disconnect(): void {
    this.cameBack('closed')
    this.#closed = new CallFailure('closed', 'the client was closed')
    this.pendingReleases.stopAll()
    this.#presence?.withdraw()
    this.server.removeConnection(this)
  }
}
