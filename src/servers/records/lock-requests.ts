import type {
  AcquireAnswer,
  HandOverAnswer,
  ReenterAnswer,
  Released,
  SeenHold,
} from '../answers.ts'
import type { HolderFacts, LockFacts } from '../facts.ts'
import type { Hint } from '../hint.ts'
import type { RemoteLock } from '../lock-server.ts'
import type { PendingReleases } from '../pending-releases.ts'
import type { RecordStore } from '../record-store.ts'
import { type Reply, replyWith } from '../reply.ts'
import type { Attempt, LoweredHold, Passing, Reentry } from '../requests.ts'
import type { Subscription } from '../subscription.ts'
import { listenForHints } from './hint-messages.ts'
import {
  acquireLock,
  forceRelease,
  handOverLock,
  lockFacts,
  lowerLock,
  reenterLock,
  seenHold,
} from './lock.ts'
import { changeRecord, type OpenRecord } from './open-record.ts'
import { holderFacts, lockChannel } from './stored-lock.ts'

interface LockClient {
  readonly store: RecordStore
  readonly counterMs: number
  readonly pendingReleases: PendingReleases
}

/** One lock on a server without scripts, as one client uses it. */
export class RecordLock implements RemoteLock {
  readonly #client: LockClient
  readonly #rawName: string

  constructor(client: LockClient, rawName: string) {
    this.#client = client
    this.#rawName = rawName
  }

  acquire(attempt: Attempt, reply: Reply<AcquireAnswer>): void {
    const { counterMs } = this.#client
    this.#reply(reply, attempt, (record) => acquireLock(record, attempt, counterMs))
  }

  reenter(reentry: Reentry, reply: Reply<ReenterAnswer>): void {
    const { counterMs } = this.#client
    this.#reply(reply, reentry, (record) => reenterLock(record, reentry, counterMs))
  }

  handOver(passing: Passing, reply: Reply<HandOverAnswer>): void {
    const { counterMs } = this.#client
    this.#reply(reply, passing, (record) => handOverLock(record, passing, counterMs))
  }

  lower(ending: LoweredHold, reply: Reply<Released>): void {
    this.#reply(reply, ending, (record) => lowerLock(record, ending))
  }

  abandon(owner: string, untilMs: number, leaseMs: number): void {
    const { pendingReleases } = this.#client
    const of = { rawName: this.#rawName, owner }
    pendingReleases.abandon(of, untilMs, leaseMs, (ending, reply) => this.lower(ending, reply))
  }

  seen(callMs: number): Promise<SeenHold | null> {
    return this.#change(callMs, seenHold)
  }

  forceRelease(seen: SeenHold, callMs: number): Promise<boolean> {
    return this.#change(callMs, (record) => forceRelease(record, seen))
  }

  peek(callMs: number): Promise<HolderFacts> {
    return this.#change(callMs, holderFacts)
  }

  inspect(callMs: number): Promise<LockFacts> {
    return this.#change(callMs, lockFacts)
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    return listenForHints(this.#client.store, lockChannel(this.#rawName), onHint)
  }

  #reply<T>(
    reply: Reply<T>,
    { callMs }: { readonly callMs: number },
    verb: (record: OpenRecord) => T,
  ): void {
    replyWith(this.#change(callMs, verb), reply)
  }

  #change<T>(callMs: number, verb: (record: OpenRecord) => T): Promise<T> {
    return changeRecord(this.#client.store, this.#rawName, callMs, verb)
  }
}
