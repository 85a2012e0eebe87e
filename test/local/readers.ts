import type { KindVerbs } from '../../src/local/kind-verbs.ts'
import type { LockKind } from '../../src/local/lock-kind.ts'
import { plainKind } from '../../src/locks/lock/plain-kind.ts'
import type { AcquireAnswer, ReenterAnswer, Released } from '../../src/servers/answers.ts'
import type { RemoteLock } from '../../src/servers/lock-server.ts'
import type { MemoryConnection } from '../../src/servers/memory/memory-connection.ts'
import type { MemoryLockServer } from '../../src/servers/memory/memory-server.ts'
import { mint } from '../../src/servers/records/counter.ts'
import {
  changeRecord,
  changeRecords,
  type OpenRecord,
  type RecordPart,
} from '../../src/servers/records/open-record.ts'
import { freeLock, LOCK_PART, lockLeft } from '../../src/servers/records/stored-lock.ts'
import { endsInMs } from '../../src/servers/remaining.ts'
import { type Reply, replyWith } from '../../src/servers/reply.ts'
import { edit, partOf } from '../support/memory-server.ts'

interface Reader {
  holds: number
  endsAt: number
}

type ReadersByOwner = Record<string, Reader>

const READERS: RecordPart<{ byOwner: ReadersByOwner }> = {
  name: 'readers',
  newState: () => ({ byOwner: {} }),
  expire({ byOwner }, nowMs) {
    for (const [owner, { endsAt }] of Object.entries(byOwner)) {
      if (nowMs > endsAt) delete byOwner[owner]
    }
  },
  untilMs: ({ byOwner }) => Math.max(0, ...Object.values(byOwner).map(({ endsAt }) => endsAt)),
}

/** The readers of all locks of a server. */
export class Readers {
  readonly #server: MemoryLockServer
  /** The owners in each renewal. */
  readonly renewals: string[][] = []
  /** The number of hand-offs between writers. */
  handOvers = 0

  constructor(server: MemoryLockServer) {
    this.#server = server
  }

  /** The readers of one lock, by owner. */
  of(rawName: string): ReadersByOwner {
    return partOf(this.#server, rawName, READERS).byOwner
  }

  /** Ends the hold of an owner, like an operator. */
  remove(rawName: string, owner: string): void {
    edit(this.#server, rawName, (record) => {
      delete record.part(READERS).byOwner[owner]
    })
  }

  /** Owners and their hold counts. */
  holds(rawName: string): Record<string, number> {
    return Object.fromEntries(
      Object.entries(this.of(rawName)).map(([owner, { holds }]) => [owner, holds]),
    )
  }
}

/** The requests for the readers of a lock. Readers exclude a writer but not each other. */
function readVerbs(there: MemoryConnection, rawName: string, remote: RemoteLock) {
  const on = <T>(reply: Reply<T>, verb: (readers: ReadersByOwner, record: OpenRecord) => T) =>
    replyWith(
      changeRecord(there.store, rawName, 0, (record) => verb(record.part(READERS).byOwner, record)),
      reply,
    )
  const verbs: KindVerbs = {
    acquire: ({ owner, leaseMs }, reply) =>
      on(reply, (readers, record): AcquireAnswer => {
        const { nowMs } = record
        const lock = record.part(LOCK_PART)
        if (lock.holder !== null) return { kind: 'held', ttlMs: endsInMs(lockLeft(lock, nowMs)) }
        readers[owner] = { holds: 1, endsAt: nowMs + leaseMs }
        const token = mint(record, { leaseMs, counterMs: there.counterMs })
        return { kind: 'granted', token }
      }),
    reenter: ({ owner, holds, token, leaseMs }, reply) =>
      on(reply, (readers, { nowMs }): ReenterAnswer => {
        const reader = readers[owner]
        if (reader === undefined) return { kind: 'gone' }
        reader.holds = Math.max(reader.holds, holds)
        reader.endsAt = Math.max(reader.endsAt, nowMs + leaseMs)
        return { kind: 'granted', token }
      }),
    lower: ({ owner, holds }, reply) =>
      on(reply, (readers, record): Released => {
        const reader = readers[owner]
        if (reader === undefined) return { kind: 'gone' }
        reader.holds = Math.min(reader.holds, holds)
        if (holds > 0) return { kind: 'kept' }
        delete readers[owner]
        return { kind: 'freed', others: freeLock(record) }
      }),
    // In memory no answer is lost, so no owner has a hold that it does not know of.
    abandon: (owner) =>
      on({ answered: () => {}, failed: () => {} }, (readers) => delete readers[owner]),
    listen: (onWake) => remote.listen(onWake),
  }
  return verbs
}

/** A kind of lock that several owners can hold at once. */
export function readKind(all: Readers, there: MemoryConnection): LockKind {
  return {
    name: 'read',
    isShared: true,
    waitsInTurn: false,
    newVerbs: ({ rawName, remote }) => readVerbs(there, rawName, remote),
    newWaiter: plainKind.newWaiter,
    renewal: {
      groups: (locks) => [[...locks.keys()]],
      renew: (leases, leaseMs) => {
        all.renewals.push(leases.map(({ ownerId }) => ownerId))
        const names = leases.map((lease) => lease.rawName)
        return changeRecords(there.store, names, 0, (recordOf) =>
          leases.map((lease) => {
            const { ownerId } = lease
            const record = recordOf(lease.rawName)
            const reader = record.part(READERS).byOwner[ownerId]
            if (reader === undefined) return 'gone'
            reader.endsAt = Math.max(reader.endsAt, record.nowMs + leaseMs)
            return Math.max(0, reader.endsAt - record.nowMs)
          }),
        )
      },
    },
  }
}

/** A kind of lock that one owner holds, without any reader. */
export function writeKind(all: Readers, there: MemoryConnection): LockKind {
  return {
    name: 'write',
    isShared: false,
    waitsInTurn: false,
    newVerbs: ({ rawName, remote }) => ({
      acquire: (attempt, reply) => {
        const ends = Object.values(all.of(rawName)).map(({ endsAt }) => endsAt)
        if (ends.length === 0) {
          remote.acquire(attempt, reply)
          return
        }
        const held = (now: number) => ({ kind: 'held' as const, ttlMs: Math.max(...ends) - now })
        replyWith(
          there.store.request(() => held(there.server.now), 0),
          reply,
        )
      },
      reenter: (reentry, reply) => remote.reenter(reentry, reply),
      handOver: (passing, reply) => {
        all.handOvers += 1
        remote.handOver(passing, reply)
      },
      lower: (ending, reply) => remote.lower(ending, reply),
      abandon: (owner, untilMs, leaseMs) => remote.abandon(owner, untilMs, leaseMs),
      listen: (onWake) => remote.listen(onWake),
    }),
    newWaiter: plainKind.newWaiter,
  }
}
