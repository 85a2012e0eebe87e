import type { LeaseToRenew } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import type { LockServer } from '../lock-server.ts'
import type { MasterHealth } from '../master-health.ts'
import type { OwnInfo, Presence } from '../presence.ts'
import { orderBySlot } from '../redis/calls/cluster-slot.ts'
import { lockKeys } from '../redis/calls/keys.ts'
import type { RenewedLease } from '../renewed-lease.ts'
import type { RequestChannel } from '../request-channel.ts'
import { healthOf } from './health.ts'
import { identifyAll } from './inspect.ts'
import { abandonOnAll } from './lock-ballot.ts'
import { downOf, Majority, type Votes } from './majority.ts'
import type { Master } from './master/master.ts'
import { MASTERS_WORDS } from './masters-words.ts'
import { QuorumPresence } from './presence.ts'
import { QuorumLock } from './quorum-lock.ts'
import { renewOnMost } from './renew.ts'
import { Repairs } from './repairs.ts'
import { requestChannel } from './request-channel.ts'
import { RoundTrips } from './round-trips.ts'

/**
 * Makes independent masters act as one server: the answer of a majority counts. The algorithm is
 * Redlock, as on the page below, with two additions. The majority that grants a lock agrees on the
 * token, and a master that may have lost its data does not vote.
 *
 * Every attempt has its own owner id, so a late request to one master cannot change a later hold.
 *
 * @see https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
 */
export class Quorum implements LockServer {
  readonly masters: readonly Master[]
  readonly words = MASTERS_WORDS
  readonly whyNoVote =
    'is already a majority lock, made by a client with `masters` or by getRedLock(). ' +
    'Pass locks of clients that have one server each'
  readonly size: Majority
  readonly roundTrips: RoundTrips
  readonly repairs: Repairs
  readonly requests: RequestChannel
  readonly #callMs: number
  #closed = false

  /** @param callMs how long one request to one master may take, in milliseconds */
  constructor(masters: readonly Master[], callMs: number) {
    this.masters = masters
    this.size = new Majority(masters.length)
    this.roundTrips = new RoundTrips(masters, this.size.majority)
    this.#callMs = callMs
    this.requests = requestChannel(this)
    // Does not release leases that a repair finds lost, because only a renewal tells the holder of
    // a loss.
    this.repairs = new Repairs((leases) => void this.#renew(leases, 0, callMs, () => {}), callMs)
  }

  lock(rawName: string): QuorumLock {
    return new QuorumLock(this, lockKeys(rawName))
  }

  renew(leases: readonly LeaseToRenew[], leaseMs: number, callMs: number): Promise<RenewedLease[]> {
    return this.#renew(leases, leaseMs, callMs, ({ rawName, ownerId }) =>
      abandonOnAll(this.masters, lockKeys(rawName), ownerId),
    )
  }

  groups(locks: readonly { readonly rawName: string }[]): number[][] {
    return locks.length === 0 ? [] : [[...locks.keys()]]
  }

  /**
   * Returns the same text as a single server. Another client may use one of the masters alone, and
   * must acquire the locks in the same order.
   */
  orderOf(rawName: string): string {
    return orderBySlot(rawName)
  }

  get lateAtMostMs(): number {
    return Math.max(...this.masters.map(({ server }) => server.lateAtMostMs))
  }

  get everUp(): boolean {
    return this.masters.some(({ server }) => server.everUp)
  }

  onUp(onUp: () => void): () => void {
    const ignore = this.masters.map(({ server }) => server.onUp(onUp))
    return () => {
      for (const one of ignore) one()
    }
  }

  connect(): void {
    for (const { server } of this.masters) server.connect()
  }

  get whyDown(): CallFailure | undefined {
    const down = downOf(this.masters)
    return down.length > this.size.spare ? this.failure(down, false) : undefined
  }

  /**
   * Returns the sorted ids of all masters as one text. Returns null if one id is unknown, because
   * another quorum may share the other masters.
   */
  identify(callMs: number): Promise<string | null> {
    return identifyAll(this.masters, this.size, this.callMs(callMs))
  }

  presenceFor(own: OwnInfo): Presence {
    return new QuorumPresence(this.masters.map(({ server }) => server.presenceFor(own)))
  }

  health(leases: readonly LeaseToRenew[], callMs: number): Promise<MasterHealth[]> {
    const oneMs = this.callMs(callMs)
    return Promise.all(this.masters.map((master) => healthOf(master, leases, oneMs)))
  }

  /**
   * Resolves when no release is pending. If only a minority is down, does not wait for the masters
   * that are down.
   */
  async quiet(): Promise<void> {
    const isNeeded = () => this.whyDown !== undefined
    await Promise.all(this.masters.map((master) => master.quiet(isNeeded)))
  }

  /**
   * Returns the time limit of one request to one master, but not more than `longestMs`, in
   * milliseconds.
   */
  callMs(longestMs: number): number {
    return Math.min(longestMs, this.#callMs)
  }

  /**
   * Makes one failure for all masters from votes without a majority. After `disconnect()`, this is
   * the failure `closed`.
   */
  readonly failure = (votes: Votes<unknown>, mayBeDone: boolean): CallFailure =>
    this.#closed
      ? new CallFailure('closed', 'the client was closed')
      : this.size.failure(votes, mayBeDone)

  /**
   * Ends the work in the background, and lets later requests fail. Keeps the connections to the
   * masters open, because other clients may use them.
   */
  disconnect(): void {
    this.#closed = true
    this.repairs.stopAll()
    for (const master of this.masters) master.stopRequests()
  }

  #renew(
    leases: readonly LeaseToRenew[],
    leaseMs: number,
    callMs: number,
    lost: (lease: LeaseToRenew) => void,
  ) {
    const missing = (lease: LeaseToRenew) => this.repairs.add(lease)
    return renewOnMost(this.masters, this.size, leases, leaseMs, callMs, { lost, missing })
  }
}
