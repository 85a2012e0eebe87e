import type { JointAnswer, LeaseToRenew } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import type { LockServer } from '../lock-server.ts'
import { PendingReleases } from '../pending-releases.ts'
import type { OwnInfo, Presence } from '../presence.ts'
import type { RecordStore } from '../record-store.ts'
import type { RenewedLease } from '../renewed-lease.ts'
import type { RequestChannel } from '../request-channel.ts'
import type { KindClient, ServerKind } from '../server-kind.ts'
import type { ServerWords } from '../server-words.ts'
import { acquireAll } from './acquire-all.ts'
import { renewLock } from './lock.ts'
import { RecordLock } from './lock-requests.ts'
import { changeRecords } from './open-record.ts'
import type { RecordKinds } from './record-kind.ts'
import { RecordPresence } from './record-presence.ts'
import { oneGroup, renewRecords } from './renew-records.ts'

const requestChannel = (clientId: string) => `requests ${clientId}`

/** The locks of one client on a server without scripts. */
export class RecordServer<S extends RecordStore> implements LockServer {
  readonly store: S
  /**
   * How long the server remembers a token after the last use of the lock, in milliseconds; 0 means
   * forever.
   */
  readonly counterMs: number
  /** How long a request in the background may take, in milliseconds. */
  readonly callMs: number
  readonly pendingReleases: PendingReleases
  readonly requests: RequestChannel
  readonly address?: string
  readonly #kinds: RecordKinds
  #presence: Presence | undefined
  /** The functions that the kinds have passed to `beforeClose`. */
  readonly #closings: (() => Promise<void>)[] = []

  /**
   * @param callMs how long a request in the background may take, in milliseconds
   * @param label the label of the client, for messages on diagnostics channels
   * @param kinds all kinds, as `kinds/all.ts` lists them
   */
  constructor(store: S, counterMs: number, callMs: number, label: string, kinds: RecordKinds) {
    this.store = store
    this.counterMs = counterMs
    this.callMs = callMs
    this.#kinds = kinds
    if (store.address !== undefined) this.address = store.address
    this.pendingReleases = new PendingReleases(callMs, label, store.clock)
    this.requests = {
      name: requestChannel('<id>'),
      send: (clientId, message, callMs) => store.publish(requestChannel(clientId), message, callMs),
      listen: (clientId, onMessage) => store.listen(requestChannel(clientId), onMessage),
    }
  }

  get words(): ServerWords {
    return this.store.words
  }

  lock(rawName: string): RecordLock {
    return new RecordLock(this, rawName)
  }

  kind<R extends object>({ name }: ServerKind<R>, client: KindClient): R {
    const { store, counterMs, callMs, pendingReleases } = this
    const beforeClose = (work: () => Promise<void>) => void this.#closings.push(work)
    const terms = { store, counterMs, callMs, pendingReleases, beforeClose }
    return this.#kinds.get(name)?.({ ...client, ...terms }) as R
  }

  renew(leases: readonly LeaseToRenew[], leaseMs: number, callMs: number): Promise<RenewedLease[]> {
    const terms = { leaseMs, counterMs: this.counterMs }
    return renewRecords(this.store, leases, callMs, (record, owner) =>
      renewLock(record, owner, terms),
    )
  }

  acquireAll(
    locks: readonly { readonly rawName: string; readonly owner: string }[],
    leaseMs: number,
    callMs: number,
  ): Promise<JointAnswer> {
    const terms = { leaseMs, counterMs: this.counterMs }
    const names = locks.map(({ rawName }) => rawName)
    return changeRecords(this.store, names, callMs, (recordOf) => {
      const all = locks.map(({ rawName, owner }) => ({ record: recordOf(rawName), owner }))
      return acquireAll(all, terms)
    })
  }

  groups(locks: readonly object[]): number[][] {
    return oneGroup(locks)
  }

  /** Returns an empty text, so that only the names of the locks decide their order. */
  orderOf(_rawName: string): string {
    return ''
  }

  presenceFor(own: OwnInfo): Presence {
    this.#presence = new RecordPresence(this.store.reports, this.callMs, own)
    return this.#presence
  }

  identify(callMs: number): Promise<string | null> {
    return this.store.identify(callMs)
  }

  get whyNoVote(): string | null {
    return this.store.whyNoVote
  }

  get lateAtMostMs(): number {
    return this.store.lateAtMostMs
  }

  get whyDown(): CallFailure | undefined {
    return this.store.whyDown
  }

  get everUp(): boolean {
    return this.store.everUp
  }

  onUp(onUp: () => void): () => void {
    return this.store.onUp(onUp)
  }

  connect(): void {
    this.store.connect()
  }

  async quiet(): Promise<void> {
    await this.pendingReleases.quiet()
    for (const work of this.#closings) await work()
  }

  disconnect(): void {
    this.pendingReleases.stopAll()
    this.#presence?.withdraw()
    this.store.disconnect()
  }
}
