import type { AcquireAnswer, Gone, ReenterAnswer, Released } from '../../answers.ts'
import type { Hint } from '../../hint.ts'
import { type LockSide, sideId } from '../../owner-id.ts'
import type {
  ReadWriteServer,
  ReadWriteState,
  RemoteReadWriteLock,
  WaitingAttempt,
} from '../../read-write-server.ts'
import { promised, type Reply, replyWith } from '../../reply.ts'
import { type LoweredHold, type Reentry, wholeRelease } from '../../requests.ts'
import type { Subscription } from '../../subscription.ts'
import { countsForMs, WAITING_MS } from '../../waiting-time.ts'
import { listenForHints } from '../hint-messages.ts'
import { changeRecord, type OpenRecord } from '../open-record.ts'
import type { RecordClient, RecordKind } from '../record-kind.ts'
import { oneGroup, renewRecords } from '../renew-records.ts'
import {
  acquireToRead,
  acquireToWrite,
  lowerReadWrite,
  type ReadWriteAttempt,
  reenterToRead,
  reenterToWrite,
  renewReadWrite,
} from './read-write.ts'
import { readWriteFacts } from './read-write-facts.ts'
import { readWriteChannel } from './read-write-turns.ts'

class RecordReadWriteLock implements RemoteReadWriteLock {
  readonly #client: RecordClient
  readonly #rawName: string

  constructor(client: RecordClient, rawName: string) {
    this.#client = client
    this.#rawName = rawName
  }

  read(attempt: WaitingAttempt, reply: Reply<AcquireAnswer>): void {
    const [given, terms] = [this.#attempt(attempt), this.#terms(attempt)]
    this.#change(reply, attempt, (record) => acquireToRead(record, given, terms))
  }

  rereads(reentry: Reentry, reply: Reply<ReenterAnswer>): void {
    const terms = this.#terms(reentry)
    this.#change(reply, reentry, (record) => reenterToRead(record, reentry, terms))
  }

  write(attempt: WaitingAttempt, reply: Reply<AcquireAnswer | Gone>): void {
    const [given, terms] = [this.#attempt(attempt), this.#terms(attempt)]
    this.#change(reply, attempt, (record) => acquireToWrite(record, given, terms))
  }

  rewrites(reentry: Reentry, reply: Reply<ReenterAnswer>): void {
    const terms = this.#terms(reentry)
    this.#change(reply, reentry, (record) => reenterToWrite(record, reentry, terms))
  }

  lower(ending: LoweredHold, isLast: boolean, reply: Reply<Released>): void {
    const { clientId } = this.#client
    this.#change(reply, ending, (record) => lowerReadWrite(record, ending, clientId, isLast))
  }

  async forceRelease(owner: string, callMs: number): Promise<boolean> {
    const ending = wholeRelease(owner, callMs)
    const { kind } = await promised<Released>((reply) => this.lower(ending, false, reply))
    return kind === 'freed'
  }

  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void {
    const of = { rawName: this.#rawName, owner }
    this.#client.pendingReleases.abandon(of, untilMs, leaseMs, (ending, reply) =>
      this.lower(ending, isLast(), reply),
    )
  }

  stopWaiting(side: LockSide, isLast: () => boolean): void {
    this.abandon(sideId('', side), 0, WAITING_MS, isLast)
  }

  inspect(callMs: number): Promise<ReadWriteState> {
    return changeRecord(this.#client.store, this.#rawName, callMs, readWriteFacts)
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    return listenForHints(this.#client.store, readWriteChannel(this.#rawName), onHint)
  }

  #attempt(attempt: WaitingAttempt): ReadWriteAttempt {
    const { owner, beside, isLast, waits } = attempt
    const client = waits ? this.#client.clientId : ''
    return { owner, beside, isLast, client, aliveMs: countsForMs(attempt) }
  }

  #terms({ leaseMs }: { readonly leaseMs: number }) {
    return { leaseMs, counterMs: this.#client.counterMs }
  }

  #change<T>(
    reply: Reply<T>,
    { callMs }: { readonly callMs: number },
    verb: (record: OpenRecord) => T,
  ): void {
    replyWith(changeRecord(this.#client.store, this.#rawName, callMs, verb), reply)
  }
}

export const recordReadWrite: RecordKind<ReadWriteServer> = (client) => ({
  ownerId: sideId,
  lock: (rawName) => new RecordReadWriteLock(client, rawName),
  groups: oneGroup,
  renew(leases, leaseMs, callMs) {
    const terms = { leaseMs, counterMs: client.counterMs }
    return renewRecords(client.store, leases, callMs, (record, owner) =>
      renewReadWrite(record, owner, terms),
    )
  },
})
