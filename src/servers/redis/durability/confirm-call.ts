import type { Redis } from 'ioredis'
import type { LeaseToRenew } from '../../answers.ts'
import type { CallFailure } from '../../call-failure.ts'
import type { Remaining } from '../../remaining.ts'
import type { RenewedLease } from '../../renewed-lease.ts'
import { groupBySlot, slotOf } from '../calls/cluster-slot.ts'
import { confirmKey } from '../calls/keys.ts'
import { oddAnswer } from '../calls/odd-answer.ts'
import type { Renewing } from '../calls/renew.ts'
import { masterOf } from '../connection/cluster-nodes.ts'
import { Refusal } from '../connection/failure-of.ts'
import { isCluster, type RedisClient } from '../connection/open-client.ts'
import type { Terms } from '../scripts/terms.ts'

/** A grant, and how to check if its owner still holds the lock. */
export interface UnconfirmedGrant {
  readonly renewing: Renewing
  readonly lease: LeaseToRenew
}

/**
 * The result of one check: how many replicas have the writes, and for each lease its remaining time
 * or its failure.
 */
export interface Confirmed {
  readonly replicas: number
  /** True if the master has the writes on disk; undefined if the call did not ask for `fsync`. */
  readonly fsynced: boolean | undefined
  readonly remaining: readonly RenewedLease[]
}

/** How many copies of the grants the call waits for, and for how long. */
interface Copies {
  readonly replicas: number
  readonly timeoutMs: number
  readonly fsync: boolean
}

/**
 * Waits for the replicas of one master, and then checks which holds are left. WAIT counts the
 * replicas that have all writes of the connection. So this function first writes a key, on the same
 * connection to the same node.
 *
 * Sends the source of each script instead of its hash, because after a NOSCRIPT the client would
 * have to repeat the wait.
 */
export async function confirm(
  client: RedisClient,
  all: readonly UnconfirmedGrant[],
  { replicas, timeoutMs, fsync }: Copies,
  terms: Terms,
): Promise<Confirmed> {
  const { rawName } = (all[0] as UnconfirmedGrant).lease
  const node = nodeOf(client, rawName)
  const groups = together(all, isCluster(client))
  const written = node.set(confirmKey(rawName), '', 'PX', 1)
  const acknowledged = fsync
    ? (node.call('WAITAOF', 1, replicas, timeoutMs) as Promise<[number, number]>)
    : node.wait(replicas, timeoutMs).then((count) => [undefined, count] as const)
  const reads = groups.map(({ renewing, indices }) => {
    const leases = indices.map((i) => (all[i] as UnconfirmedGrant).lease)
    const { binding, keysOf } = renewing
    const keys = leases.flatMap((lease) => keysOf(lease.rawName))
    const args = binding.argsOf(leases, terms, { keys })
    return node.eval(binding.script.source, keys.length, ...keys, ...args)
  })
  const [, [local, count], ...replies] = await Promise.all([written, acknowledged, ...reads])
  const remaining: RenewedLease[] = new Array(all.length)
  for (const [n, { renewing, indices }] of groups.entries()) {
    const answers = readRemaining(renewing, replies[n], indices.length)
    for (const [at, i] of indices.entries()) remaining[i] = answers[at] as RenewedLease
  }
  return { replicas: count, fsynced: local === undefined ? undefined : local > 0, remaining }
}

/**
 * Returns the number of connected replicas of the master that has the key; undefined if INFO does
 * not show this number. Rejects if the server has become a replica, because a replica may lack the
 * grants.
 */
export async function connectedReplicas(
  client: RedisClient,
  key: string,
): Promise<number | undefined> {
  const info = await nodeOf(client, key).info('replication')
  if (info.includes('role:slave')) throw moved(client, 'the server has become a replica')
  const [, count] = /connected_slaves:(\d+)/.exec(info) ?? []
  return count === undefined ? undefined : Number(count)
}

/**
 * Returns the address of the cluster node that has the slot of the key, as far as the client knows.
 * Returns '' for a single server.
 */
export function nodeKeyOf(client: RedisClient, key: string): string {
  return isCluster(client) ? (client.slots[slotOf(key)]?.[0] ?? '') : ''
}

function nodeOf(client: RedisClient, key: string): Redis {
  if (!isCluster(client)) return client
  const node = masterOf(client, slotOf(key))
  if (node === undefined) throw moved(client, `the cluster has no master for the key ${key}`)
  return node
}

/**
 * Makes the failure for a node that does not have the key any more. The next attempt may ask
 * another node.
 */
export function moved(client: RedisClient, message: string, cause?: unknown): CallFailure {
  if (isCluster(client)) client.refreshSlotsCache()
  return new Refusal(message, cause, false)
}

/** Groups the grants so that one script can check each group. */
function together(
  all: readonly UnconfirmedGrant[],
  clustered: boolean,
): { renewing: Renewing; indices: number[] }[] {
  const byRenewing = new Map<Renewing, number[]>()
  for (const [i, { renewing }] of all.entries()) {
    const indices = byRenewing.get(renewing)
    if (indices === undefined) byRenewing.set(renewing, [i])
    else indices.push(i)
  }
  return [...byRenewing].flatMap(([renewing, indices]) => {
    if (!clustered) return [{ renewing, indices }]
    const slots = groupBySlot(indices.map((i) => (all[i] as UnconfirmedGrant).lease))
    return slots.map((some) => ({ renewing, indices: some.map((n) => indices[n] as number) }))
  })
}

function readRemaining({ binding }: Renewing, reply: unknown, size: number) {
  let remaining: (Remaining | undefined)[] = []
  try {
    remaining = binding.read(reply)
  } catch {
    // The code below handles the empty list like a list with the wrong length.
  }
  const isOdd = remaining.length !== size
  return Array.from({ length: size }, (_, i) => {
    const { name } = binding.script
    if (isOdd) return oddAnswer(name, reply)
    return remaining[i] ?? oddAnswer(name, (reply as unknown[])[i])
  })
}
