import type { Redis } from 'ioredis'
import type { LeaseToRenew } from '../../answers.ts'
import { CallFailure, OddAnswer } from '../../call-failure.ts'
import { groupBySlot, slotOf } from '../calls/cluster-slot.ts'
import { confirmKey } from '../calls/keys.ts'
import type { Renewing } from '../calls/renew.ts'
import { masterOf } from '../connection/cluster-nodes.ts'
import { type Client, isCluster } from '../connection/open-client.ts'
import type { Terms } from '../scripts/terms.ts'

/** A grant, and how to check if its owner still holds it. */
export interface Granted {
  readonly look: Renewing
  readonly lease: LeaseToRenew
}

/**
 * The result of one check: how many replicas have the writes, and for each lease its remaining time
 * or its failure.
 */
export interface Confirmed {
  readonly replicas: number
  /** True if the master has the writes on disk; undefined if that was not asked. */
  readonly fsynced: boolean | undefined
  readonly left: readonly (number | CallFailure)[]
}

/** Which copies the call waits for. */
interface Copies {
  readonly replicas: number
  readonly timeoutMs: number
  readonly fsync: boolean
}

/**
 * Waits for the replicas of one master, and then checks which holds are left. WAIT counts the
 * replicas that have the writes of its own connection, so the call writes a key after the grants.
 * All commands are sent in one turn to one node, because elsewhere WAIT would count other writes.
 *
 * The checks are few, so they send their source. After a NOSCRIPT, the wait would have to be
 * repeated.
 */
export async function confirm(
  client: Client,
  all: readonly Granted[],
  { replicas, timeoutMs, fsync }: Copies,
  terms: Terms,
): Promise<Confirmed> {
  const { key } = (all[0] as Granted).lease
  const node = nodeOf(client, key)
  const groups = together(all, isCluster(client))
  const written = node.set(confirmKey(key), '', 'PX', 1)
  const acknowledged = fsync
    ? (node.call('WAITAOF', 1, replicas, timeoutMs) as Promise<[number, number]>)
    : node.wait(replicas, timeoutMs).then((count) => [undefined, count] as const)
  const looks = groups.map(({ look, indices }) => {
    const leases = indices.map((i) => (all[i] as Granted).lease)
    const keys = leases.flatMap((lease) => look.keysOf(lease.key))
    const args = look.args(leases, terms)
    return node.eval(look.script.source, keys.length, ...keys, ...args)
  })
  const [, [local, count], ...replies] = await Promise.all([written, acknowledged, ...looks])
  const left: (number | CallFailure)[] = new Array(all.length)
  for (const [n, { look, indices }] of groups.entries()) {
    const answers = readLeft(look, replies[n], indices.length)
    for (const [at, i] of indices.entries()) left[i] = answers[at] as number | CallFailure
  }
  return { replicas: count, fsynced: local === undefined ? undefined : local > 0, left }
}

/**
 * Returns how many replicas the master of the key lists as connected; undefined if the master does
 * not report them. Rejects if the server has become a replica: it lists no replicas, and may lack
 * the grants.
 */
export async function connectedReplicas(client: Client, key: string): Promise<number | undefined> {
  const info = await nodeOf(client, key).info('replication')
  if (info.includes('role:slave')) throw moved(client, 'the server has become a replica')
  const [, count] = /connected_slaves:(\d+)/.exec(info) ?? []
  return count === undefined ? undefined : Number(count)
}

/**
 * Returns the address of the cluster node that has the slot of the key, as far as the client knows.
 * Returns '' for a single server.
 */
export function nodeKeyOf(client: Client, key: string): string {
  return isCluster(client) ? (client.slots[slotOf(key)]?.[0] ?? '') : ''
}

function nodeOf(client: Client, key: string): Redis {
  if (!isCluster(client)) return client
  const node = masterOf(client, slotOf(key))
  if (node === undefined) throw moved(client, `the cluster has no master for the key ${key}`)
  return node
}

/** Makes the failure for a node that does not have the key. The next attempt asks another node. */
export function moved(client: Client, message: string, cause?: unknown): CallFailure {
  if (isCluster(client)) client.refreshSlotsCache()
  return new CallFailure('refused', message, cause, false)
}

/** Groups the grants so that one script can check each group. */
function together(
  all: readonly Granted[],
  clustered: boolean,
): { look: Renewing; indices: number[] }[] {
  const byLook = new Map<Renewing, number[]>()
  for (const [i, { look }] of all.entries()) {
    const indices = byLook.get(look)
    if (indices === undefined) byLook.set(look, [i])
    else indices.push(i)
  }
  return [...byLook].flatMap(([look, indices]) => {
    if (!clustered) return [{ look, indices }]
    const slots = groupBySlot(indices.map((i) => (all[i] as Granted).lease))
    return slots.map((some) => ({ look, indices: some.map((n) => indices[n] as number) }))
  })
}

function readLeft({ script, read }: Renewing, reply: unknown, size: number) {
  let left: (number | undefined)[] = []
  try {
    left = read(reply)
  } catch {
    // The code below handles the empty list like a list with the wrong length.
  }
  const isOdd = left.length !== size
  return Array.from({ length: size }, (_, i) => {
    if (isOdd) return new OddAnswer(script.name, reply)
    return left[i] ?? new OddAnswer(script.name, (reply as unknown[])[i])
  })
}
