import type { LeaseToRenew, Released } from '../../answers.ts'
import type { Hint } from '../../hint.ts'
import { permitsId } from '../../owner-id.ts'
import type { PermitAnswer, PermitAttempt } from '../../permit-pool.ts'
import {
  PERMITS,
  type PermitChange,
  type PermitFacts,
  type PermitServer,
  type Remembered,
  type RemotePermits,
} from '../../permit-server.ts'
import type { RenewedLease } from '../../renewed-lease.ts'
import { bothReplies, NO_REPLY, type Reply, replyWith } from '../../reply.ts'
import { type LoweredHold, wholeRelease } from '../../requests.ts'
import type { Subscription } from '../../subscription.ts'
import { changeRecord, type OpenRecord } from '../open-record.ts'
import type { RecordClient, RecordKind } from '../record-kind.ts'
import { oneGroup, renewRecords } from '../renew-records.ts'
import { waitGiven } from './go-on.ts'
import { permitFacts } from './permit-facts.ts'
import {
  acquireLeased,
  changeLeased,
  giveBackLeased,
  handOverLeased,
  releaseIds,
  renewLeased,
} from './permits.ts'
import { listenToPool, POOL } from './pool.ts'

class RecordPermits implements RemotePermits {
  readonly #client: RecordClient
  readonly #rawName: string

  constructor(client: RecordClient, rawName: string) {
    this.#client = client
    this.#rawName = rawName
  }

  acquire(attempt: PermitAttempt, reply: Reply<PermitAnswer>): void {
    const { given, terms } = this.#given(attempt)
    const acquired = this.#change(attempt.callMs, (record) => acquireLeased(record, given, terms))
    replyWith(acquired, reply)
  }

  handOver(
    { owner: from }: LoweredHold,
    attempt: PermitAttempt,
    released: Reply<Released>,
    acquired: Reply<PermitAnswer>,
  ): void {
    const { given, terms } = this.#given(attempt)
    const both = this.#change(attempt.callMs, (record) =>
      handOverLeased(record, from, given, terms),
    )
    replyWith(both, bothReplies(released, acquired))
  }

  #given({ leaseMs, ...attempt }: PermitAttempt) {
    const { clientId, counterMs, store } = this.#client
    return {
      given: { ...attempt, ...waitGiven(attempt, clientId, store.clock) },
      terms: { leaseMs, counterMs },
    }
  }

  giveBack({ owner, callMs }: LoweredHold, isLast: boolean, reply: Reply<Released>): void {
    const client = isLast ? this.#client.clientId : ''
    replyWith(
      this.#change(callMs, (record) => giveBackLeased(record, owner, client)),
      reply,
    )
  }

  stopWaiting(): void {
    this.giveBack(wholeRelease('', this.#client.callMs), true, NO_REPLY)
  }

  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void {
    const of = { rawName: this.#rawName, owner }
    this.#client.pendingReleases.abandon(of, untilMs, leaseMs, (ending, reply) =>
      this.giveBack(ending, isLast(), reply),
    )
  }

  change(change: PermitChange, callMs: number): Promise<number> {
    return this.#change(callMs, (record) => changeLeased(record, change))
  }

  releaseIds(ids: readonly string[], request: Remembered, callMs: number): Promise<boolean> {
    return this.#change(callMs, (record) => releaseIds(record, ids, request))
  }

  inspect(most: number, callMs: number): Promise<PermitFacts> {
    return this.#change(callMs, (record) => {
      record.refuseOthers(PERMITS.what)
      return permitFacts(record.part(POOL), most, record.nowMs)
    })
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    const { store, clientId } = this.#client
    return listenToPool(store, this.#rawName, clientId, onHint)
  }

  #change<T>(callMs: number, verb: (record: OpenRecord) => T): Promise<T> {
    return changeRecord(this.#client.store, this.#rawName, callMs, verb)
  }
}

export const recordPermits: RecordKind<PermitServer> = (client) => ({
  ownerId: permitsId,
  pool: (rawName) => new RecordPermits(client, rawName),
  groups: oneGroup,
  renew(leases: readonly LeaseToRenew[], leaseMs: number, callMs: number): Promise<RenewedLease[]> {
    const terms = { leaseMs, counterMs: client.counterMs }
    return renewRecords(client.store, leases, callMs, (record, owner) =>
      renewLeased(record, owner, terms),
    )
  },
})
