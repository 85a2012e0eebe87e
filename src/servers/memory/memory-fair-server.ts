import { clientOf, type HeartbeatAnswer, type QueueAnswer, type Released } from '../answers.ts'
import {
  ALIVE_MS,
  CLAIM_MS,
  type FairAttempt,
  type FairGrant,
  type FairServer,
  type LocalPlaces,
  type RemoteFairLock,
} from '../fair-server.ts'
import type { PendingReleases } from '../pending-releases.ts'
import { timeUs } from '../records/moments.ts'
import { endsInMs } from '../remaining.ts'
import { replyWith } from '../reply.ts'
import type { Subscription } from '../subscription.ts'
import type { Channels } from './channels.ts'
import { FairGrants } from './fair-grants.ts'
import { onlyLocks, refuseReadWrite, whyNoPlainLock } from './kind-of-lock.ts'
import { heldBy } from './memory-lock.ts'
import type { MemoryLockServer } from './memory-server.ts'

interface FairMemoryConnection {
  readonly server: MemoryLockServer
  readonly counterMs: number
  readonly pendingReleases: PendingReleases
  readonly countsListeners: boolean
  request<T>(work: (now: number) => T): Promise<T>
  listen<M>(channels: Channels<M>, name: string, onMessage: (message?: M) => void): Subscription
}

/**
 * The fair locks of a server in memory, as one client uses them. Each method does the same as the
 * Redis script of that name. Each request may be sent again.
 */
export class MemoryFairServer implements FairServer {
  readonly #connection: FairMemoryConnection
  readonly #clientId: string
  readonly #label: string

  /** @param label the label of the client, which `inspect` shows for its waiters */
  constructor(connection: FairMemoryConnection, clientId: string, label: string) {
    this.#connection = connection
    this.#clientId = clientId
    this.#label = label
  }

  get countsListeners(): boolean {
    return this.#connection.countsListeners
  }

  lock(rawName: string): RemoteFairLock {
    return {
      rawName,
      acquire: (attempt, reply) => replyWith(this.#acquire(rawName, attempt), reply),
      endHold: (owner, token, _callMs, reply) =>
        replyWith(this.#endHold(rawName, owner, token), reply),
      abandon: (owner, untilMs, leaseMs) => {
        const send = () => this.#endHold(rawName, owner, '')
        this.#connection.pendingReleases.add({
          send,
          of: { key: rawName, owner },
          untilMs,
          leaseMs,
        })
      },
    }
  }

  listen(onGrant: (grant?: FairGrant) => void): Subscription {
    return this.#connection.listen(this.#connection.server.grants, this.#clientId, onGrant)
  }

  beat(
    locks: readonly LocalPlaces[],
    listens: () => boolean,
  ): Promise<(HeartbeatAnswer | string)[]> {
    return this.#connection.request((now) => locks.map((one) => this.#beat(one, listens(), now)))
  }

  #acquire(
    rawName: string,
    { owner, leaseMs, ticket, listens }: FairAttempt,
  ): Promise<QueueAnswer> {
    return this.#connection.request((now) => {
      const { record, grants } = this.#at(rawName, now)
      refuseReadWrite(record)
      const { queue } = record
      if (record.heldBy(owner) !== null) {
        const { server, counterMs } = this.#connection
        record.lengthen(leaseMs, counterMs, now)
        const token = record.counter?.token ?? server.mint(record, now, { leaseMs, counterMs })
        return { kind: 'granted', token }
      }
      // A free lock is first granted to the head of the queue. The asker gets the lock only if it
      // is the head, or if the queue is empty.
      const next = record.holder === null ? grants.giveToNext({ asker: { owner, leaseMs } }) : null
      if (next?.owner === owner) return { kind: 'granted', token: next.token }
      const held = heldBy(record, now)
      if (ticket === null) return { ...held, length: queue.size }

      const last = queue.last
      const wanted = ticket === '' ? Math.max(timeUs(now), (last?.ticket ?? 0) + 1) : Number(ticket)
      const isNew = queue.add(owner, wanted) && ticket === ''
      if (last === undefined) queue.extendUntil(now + 2 * ALIVE_MS, { marks: false })
      if (leaseMs < CLAIM_MS) queue.claimsWithin(owner, leaseMs)
      grants.stayAlive(this.#clientId, listens(), this.#label)
      return {
        ...held,
        kind: 'queued',
        position: ticket === '' && (isNew || last?.owner === owner) ? queue.size : null,
        ticket: String(queue.get(owner)?.ticket),
        lastToken: record.lastToken,
        first: queue.first?.owner === owner,
      }
    })
  }

  #endHold(rawName: string, owner: string, token: number | ''): Promise<Released> {
    return this.#connection.request((now) => {
      const { record, grants } = this.#at(rawName, now)
      const { queue } = onlyLocks(record)
      if (token === '') {
        queue.remove(owner)
        if (queue.size === 0) queue.dropMarks()
      }
      const isOther = token !== '' && record.counter !== null && record.counter.token !== token
      if (record.heldBy(owner) === null || isOther) return { kind: 'gone' }
      // A background release ignores the answer. So a new holder in the same client needs a
      // message.
      const silent = token !== ''
      const following = grants.giveToNext({ own: clientOf(owner), silent, above: token || 0 })
      if (following !== null) {
        const own = clientOf(following.owner) === this.#clientId
        return { kind: 'freed', listeners: 0, following: { ...following, own } }
      }
      if (queue.size === 0) queue.dropMarks()
      return { kind: 'freed', listeners: this.#connection.server.free(record) }
    })
  }

  #beat({ rawName, places }: LocalPlaces, listens: boolean, now: number): HeartbeatAnswer | string {
    const { record, grants } = this.#at(rawName, now)
    const refusal = whyNoPlainLock(record)
    if (refusal !== null) return refusal
    const { queue } = record
    const asked = places()
    const wanted = asked.filter(({ wireOwner }) => record.heldBy(wireOwner) === null)
    const missing = wanted.filter(({ wireOwner, ticket }) => queue.add(wireOwner, Number(ticket)))
    if (missing.length > 0) {
      queue.extendUntil(now + 2 * ALIVE_MS, { marks: false })
      for (const { wireOwner, claimMs } of wanted) {
        if (claimMs < CLAIM_MS) queue.claimsWithin(wireOwner, claimMs)
      }
    }
    if (asked.length > 0) grants.stayAlive(this.#clientId, listens, this.#label)
    if (record.holder === null) grants.giveToNext({ own: this.#clientId })
    const holder = record.holder?.owner ?? ''
    const ttlMs = endsInMs(record.ttlMs(now))
    // When a claim window ends, the client of the first owner checks the lock. So this client must
    // be alive.
    const isClaim = ttlMs <= CLAIM_MS
    return {
      ttlMs,
      lastToken: record.lastToken,
      first: (isClaim ? grants.firstAlive(this.#clientId) : queue.first?.owner) ?? '',
      granted: clientOf(holder) === this.#clientId ? holder : '',
      missing: missing.length,
      holder,
    }
  }

  #at(rawName: string, now: number) {
    const { server, counterMs } = this.#connection
    const record = server.record(rawName, now)
    return { record, grants: new FairGrants(server, record, counterMs, now) }
  }
}
