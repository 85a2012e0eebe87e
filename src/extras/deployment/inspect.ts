import type { ServerClient } from '../servers/open-server.ts'
import { clientOf, derived, leasesOf } from './key-names.ts'
import type { BareRow } from './look.ts'
import { pairs, reply } from './reply.ts'
import type { HolderRow, LockDetail, WaiterRow } from './rows.ts'

/** So many of those who have something or wait are listed. */
const MOST = 1_000

/** The details of one lock before it is known of which processes its clients are. */
export interface BareDetail {
  readonly queue: readonly Omit<WaiterRow, 'process'>[]
  readonly permits: readonly Omit<HolderRow, 'process'>[]
  readonly more: LockDetail['more']
}

/** Who waits, with leases of permits, and counts: in one round trip. */
export async function inspect(server: ServerClient, row: BareRow): Promise<BareDetail> {
  const { key } = row
  const queue = (prefix: string, alive: string) =>
    [
      ['ZRANGE', derived(prefix, key), 0, MOST - 1, 'WITHSCORES'],
      ['HGETALL', derived(alive, key)],
    ] as const
  const replies = await server.askAll([
    ['TIME'],
    ...queue('holdfast_queue', 'holdfast_waiting'),
    ...queue('holdfast_writers', 'holdfast_alive'),
    ...queue('holdfast_readers', 'holdfast_alive'),
    ...queue('holdfast_permit_queue', 'holdfast_permit_waiters'),
    ['GET', key],
  ])
  const [seconds, micros] = reply<string[]>(replies[0], [])
  const nowMs = Number(seconds) * 1e3 + Number(micros) / 1e3
  const waiters = [1, 3, 5, 7].flatMap((i) =>
    waitersOf(reply<string[]>(replies[i], []), reply<string[]>(replies[i + 1], []), nowMs),
  )
  const count = reply<string | null>(replies[9], null)
  const permits = row.kind === 'permits' ? await permitsOf(server, key, nowMs) : []
  return { queue: waiters, permits, more: moreOf(row, count, permits.length) }
}

/** `alive` has for each client until when it counts, by the clock of the server in ms, and more behind that. */
function waitersOf(queue: readonly string[], alive: readonly string[], nowMs: number) {
  const untilOf = new Map(pairs(alive).map(([client, mark]) => [client, Number.parseInt(mark, 10)]))
  return pairs(queue).map(([owner, sinceUs]) => ({
    owner,
    // Who goes on from reading to writing comes before all others, and has no time.
    waitedMs: Number(sinceUs) > 1e9 ? Math.max(0, Math.round(nowMs - Number(sinceUs) / 1e3)) : null,
    isDead: (untilOf.get(owner) ?? untilOf.get(clientOf(owner)) ?? 0) < nowMs,
  }))
}

/** Permits that are taken: 16 bytes each, by which nobody is known. */
async function permitsOf(server: ServerClient, key: string, nowMs: number) {
  const name = `${leasesOf(key)}:timeout`
  const [found] = await server.askAll(
    [['ZRANGEBYSCORE', name, nowMs, '+inf', 'WITHSCORES', 'LIMIT', 0, MOST]],
    'bytes',
  )
  const flat = reply<Buffer[]>(found, [])
  return flat.flatMap((id, i) => {
    if (i % 2 === 1) return []
    const leftMs = Math.round(Number(String(flat[i + 1])) - nowMs)
    return [
      {
        owner: id.toString('hex'),
        isRedisson: false,
        holdCount: 1,
        // One without an end is written down as the end of time.
        ttlMs: leftMs > 1e14 ? null : leftMs,
        ageMs: null,
      },
    ]
  })
}

function moreOf({ kind }: BareRow, count: string | null, taken: number): LockDetail['more'] {
  if (count === null || kind === 'lock' || kind === 'read-write') return {}
  if (kind === 'latch') return { count: Number(count) }
  return { available: Number(count), ...(kind === 'permits' && { taken }) }
}
