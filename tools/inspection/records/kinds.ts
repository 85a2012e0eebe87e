import type { Holdfast, WaitingClient, WaitingForPermits } from '../../../src/index.ts'
import { BARRIER } from '../../../src/servers/barrier-server.ts'
import { LATCH } from '../../../src/servers/latch-server.ts'
import { PERMITS } from '../../../src/servers/permit-server.ts'
import { READ_WRITE } from '../../../src/servers/read-write-server.ts'
import { SEMAPHORE } from '../../../src/servers/semaphore-server.ts'
import { LOCK_WORDS } from '../../../src/servers/server-kind.ts'
import type { RowKind } from '../../kinds/all.ts'
import type { BareHolder, BareWaiter, Concluded } from '../../kinds/concluded.ts'
import { wantedPermits } from '../../kinds/permits.ts'
import { labelIn } from '../owner-ids.ts'

/** The kind and the state of one lock, as a client reads them. */
interface FoundName extends Concluded {
  readonly kind: RowKind
}

/** @returns null if no lock of this kind has the name */
type ReadKind = (client: Holdfast, name: string, nowMs: number) => Promise<FoundName | null>

/**
 * The readers, by the words that errors use for the kind. The reader of locks also reads elections.
 * It is last, because every free name with a token counts as a lock.
 */
const READERS: Readonly<Record<string, ReadKind>> = {
  async [PERMITS.what](client, name) {
    const found = await client.getPermitExpirableSemaphore(name).inspect()
    const { permits: total, available, taken, holders, waiting } = found
    if (total === null && waiting.length === 0) return null
    return {
      kind: 'permits',
      holders: holders.flatMap(({ owner, ids, ttlMs, ageMs }) =>
        owner === null ? [] : [{ ...holderOf(owner, ids.length, ttlMs, ageMs), permits: ids }],
      ),
      queue: waiting.map(waiterForPermits),
      count: { available, taken, toGo: null },
      isSet: total !== null,
    }
  },
  async [SEMAPHORE.what](client, name) {
    const { isSet, available, waiting } = await client.getSemaphore(name).inspect()
    if (!isSet && waiting.length === 0) return null
    const queue = waiting.map(waiterForPermits)
    const count = { available, taken: null, toGo: null }
    return { kind: 'semaphore', queue, count, isSet }
  },
  async [LATCH.what](client, name) {
    const { count: toGo, waiters } = await client.getCountDownLatch(name).inspect()
    if (toGo === 0) return null
    return { kind: 'latch', listeners: waiters, count: { available: 0, taken: null, toGo } }
  },
  async [BARRIER.what](client, name) {
    const { arrived, parties } = await client.getCyclicBarrier(name).inspect()
    if (parties === null) return null
    const count = { available: 0, taken: arrived, toGo: Math.max(0, parties - arrived) }
    return { kind: 'barrier', unread: arrived, count }
  },
  async [READ_WRITE.what](client, name) {
    const found = await client.getReadWriteLock(name).inspect()
    const { mode, holders, waitingToRead, waitingToWrite } = found
    const queue = [
      ...waitingToWrite.map((one) => waiterTo(one, 'write')),
      ...waitingToRead.map((one) => waiterTo(one, 'read')),
    ]
    if (holders.length + queue.length === 0) return null
    return {
      kind: 'read-write',
      holders: holders.map((one) => holderOf(one.owner, one.holdCount, one.ttlMs, one.ageMs)),
      queue,
      mode: mode ?? undefined,
    }
  },
  async [LOCK_WORDS](client, name, nowMs) {
    const found = await client.getLock(name).inspect()
    const { holder, holdCount, ttlMs, token, waiters, queueLength } = found
    if (holder === null && token === null && queueLength === 0) return null
    const owners = [...(holder === null ? [] : [holder]), ...found.queue.map(({ owner }) => owner)]
    const isElection = owners.some((owner) => labelIn(owner) !== null)
    const queue = found.queue.map(({ owner, process, waitedMs }) => {
      return { owner, waitedMs, isDead: process === null, wants: null }
    })
    // On a server without scripts, a token is usually the time of its grant, in µs.
    const ageMs = token === null ? null : Math.max(0, Math.round(nowMs - token / 1_000))
    return {
      kind: isElection ? 'election' : 'lock',
      holders: holder === null ? [] : [holderOf(holder, holdCount, ttlMs, ageMs)],
      queue,
      unread: queueLength - queue.length,
      listeners: waiters,
    }
  },
}

/**
 * Returns the readers of all kinds, in the order in which to try them. A client refuses to read a
 * name of another kind.
 *
 * @param what the words for the kind that uses the name; undefined if no kind uses the name
 */
export function readersOf(what: string | undefined): readonly ReadKind[] {
  const likely = READERS[what ?? '']
  const all = Object.values(READERS)
  return likely === undefined ? all : [likely, ...all.filter((reader) => reader !== likely)]
}

function holderOf(
  owner: string,
  holdCount: number,
  ttlMs: number | null,
  ageMs: number | null,
): BareHolder {
  return { owner, isRedisson: false, holdCount, permits: [], ttlMs, ageMs }
}

function waiterTo({ client, waitedMs }: WaitingClient, wants: 'read' | 'write'): BareWaiter {
  return { owner: client, waitedMs, isDead: false, wants }
}

function waiterForPermits({ client, waitedMs, permits }: WaitingForPermits): BareWaiter {
  return { owner: client, waitedMs, isDead: false, wants: wantedPermits(permits) }
}
