import type { HistoryIndex } from '../../tools/dashboard/handler/history-index.ts'
import type { HistoryEntry } from '../../tools/history/history.ts'
import { entry, indexOf } from './entries.ts'
import { FakeInspection, processOf } from './fake-inspection.ts'

const CLIENTS = {
  killed: 'V1StGXR8_Z5jdHi6B-myT',
  checkout: 'b0fJk2LwQzXy8vNmPqRsT',
  invoices: 'kXw93hTqLr0aNcVbMzPyE',
  nightly: 'Qm7dUe5sYi1oGp2RfHjKl',
  search: 'tB4cWv8xZn6mLk3jHgFdS',
  cron: 'zY8xWv7uTs6rQp5oNm4lK',
  mail: 'aB1cD2eF3gH4iJ5kL6mN7',
}
type Who = keyof typeof CLIENTS

const HOSTS: Record<Who, [string, number]> = {
  killed: ['web-1', 4_711],
  checkout: ['web-2', 812],
  invoices: ['job-1', 96],
  nightly: ['job-1', 97],
  search: ['web-3', 40],
  cron: ['job-2', 11],
  mail: ['job-2', 12],
}

const LABELS: Record<Who, string> = {
  killed: 'checkout',
  checkout: 'checkout-2',
  invoices: 'invoices',
  nightly: 'nightly',
  search: 'search',
  cron: 'cron-a',
  mail: 'mail',
}

const ownerOf = (who: Who, n: number, suffix = '') => `${CLIENTS[who]}:${n}${suffix}`
const of = (who: Who, seenMs = 4_000) => processOf(LABELS[who], ...HOSTS[who], seenMs)

/** The longest kind of lock name, with an id in its middle. */
export const LONG = 'shop:customer:7c9e6679-7425-40de-944b-e07fc1f90ae7:invoice'

/**
 * A shop on a bad day: a holder that was killed, dead waiters, a semaphore that is full and one that was never filled, a lock
 * without an expiry, and a node that cannot be reached.
 *
 * @param idle how many more locks there are, a tenth of which are held
 */
export function troubles(idle = 40): FakeInspection {
  const locks = new FakeInspection()
  locks.unreachable = [
    {
      address: '10.0.0.7:6379',
      reason: 'the node 10.0.0.7:6379 cannot be reached: connect ECONNREFUSED 10.0.0.7:6379',
    },
  ]
  locks.set('shop:order:1001', {
    holders: [
      { owner: ownerOf('killed', 1), process: of('killed', 193_000), ageMs: 214_200, ttlMs: 4_000 },
    ],
    waiting: 3,
    queue: [
      { owner: ownerOf('checkout', 9), process: of('checkout'), waitedMs: 192_100 },
      { owner: ownerOf('invoices', 12), process: of('invoices'), waitedMs: 21_400 },
      { owner: ownerOf('search', 3), process: of('search'), waitedMs: 9_000 },
      {
        owner: ownerOf('killed', 4),
        process: of('killed', 193_000),
        waitedMs: 240_000,
        isDead: true,
      },
    ],
    oldestWaitMs: 192_100,
  })
  locks.set('shop:report', {
    holders: [{ owner: ownerOf('nightly', 2), process: of('nightly'), ageMs: 5_400_000 }],
  })
  locks.set('shop:legacy', {
    holders: [
      {
        owner: '0ba12c22-3f5d-4c1a-9a66-2f6a1c3f7c10:71',
        isRedisson: true,
        ageMs: 61_000,
        ttlMs: null,
      },
    ],
    waiting: 2,
  })
  locks.set('shop:stock', {
    kind: 'read-write',
    state: 'read',
    stateText: 'read by 12',
    holders: Array.from({ length: 12 }, (_, i) => ({
      owner: ownerOf('search', 20 + i),
      process: of('search'),
      ageMs: 48_000 - 3_000 * i,
    })),
    waiting: 1,
    oldestWaitMs: 12_000,
    queue: [
      { owner: ownerOf('invoices', 30), process: of('invoices'), waitedMs: 12_000, wants: 'write' },
    ],
  })
  locks.set('shop:payments', {
    kind: 'permits',
    state: 'held',
    stateText: '2 of 3 taken',
    count: { available: 1, taken: 2, toGo: null },
    holders: [
      {
        owner: ownerOf('invoices', 40, ':1'),
        process: of('invoices'),
        permits: ['a'],
        ageMs: 107_000,
      },
      {
        owner: ownerOf('checkout', 41, ':1'),
        process: of('checkout'),
        permits: ['b'],
        ageMs: 12_000,
      },
    ],
  })
  locks.set('shop:api-quota', {
    kind: 'permits',
    state: 'held',
    stateText: '3 of 3 taken',
    count: { available: 0, taken: 3, toGo: null },
    holders: [
      {
        owner: ownerOf('nightly', 50, ':3'),
        process: of('nightly'),
        permits: ['a', 'b', 'c'],
        holdCount: 3,
        ageMs: 66_000,
      },
    ],
    waiting: 4,
    oldestWaitMs: 31_000,
    queue: [
      { owner: CLIENTS.checkout, process: of('checkout'), waitedMs: 31_000, wants: '2 permits' },
    ],
  })
  locks.set('shop:slots', {
    kind: 'semaphore',
    state: 'free',
    stateText: 'no permits set',
    waiting: 1,
    oldestWaitMs: 5_000,
  })
  locks.set('shop:billing', {
    kind: 'election',
    state: 'held',
    stateText: 'leader',
    holders: [
      { owner: ownerOf('nightly', 60, '~worker%20A/2'), process: of('nightly'), ageMs: 86_400_000 },
    ],
    waiting: 2,
    oldestWaitMs: 86_000_000,
    queue: [
      {
        owner: ownerOf('invoices', 61, '~worker%20B/1'),
        process: of('invoices'),
        waitedMs: 86_000_000,
      },
      {
        owner: ownerOf('checkout', 62, '~worker%20C/1'),
        process: of('checkout'),
        waitedMs: 3_600_000,
      },
    ],
  })
  locks.set('shop:ready', {
    kind: 'latch',
    state: 'closed',
    stateText: 'closed, 2 to go',
    count: { available: 0, taken: null, toGo: 2 },
    waiting: 3,
  })
  locks.set(`${LONG}:2026-11`, {
    holders: [{ owner: ownerOf('checkout', 70), process: of('checkout'), ageMs: 2_000 }],
  })
  locks.set(`${LONG}:2026-12`, {
    holders: [{ owner: ownerOf('invoices', 71), process: of('invoices'), ageMs: 1_000 }],
    waiting: 1,
    oldestWaitMs: 800,
  })
  const labels = ['checkout', 'invoices', 'search'] as const
  for (let i = 0; i < idle; i++) {
    const who = labels[i % 3] as Who
    const holder = {
      owner: ownerOf(who, 1_000 + i),
      process: of(who),
      ageMs: (i % 50) * 900,
      ttlMs: 25_000,
    }
    locks.set(`shop:order:${2_000 + i}`, i % 10 === 0 ? { holders: [holder] } : {})
  }
  return locks
}

/** The history of six minutes of that shop. It is the same each time. */
export function troubledEntries(now: number): HistoryEntry[] {
  const entries: HistoryEntry[] = []
  let seed = 7
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  let token = 1_790_000_000_000_000
  const hold = (
    who: Who,
    n: number | string,
    name: string,
    from: number,
    heldMs: number | null,
    more: Partial<HistoryEntry> = {},
    end: Partial<HistoryEntry> = { event: 'released' },
  ) => {
    const own = {
      name,
      owner: `${CLIENTS[who]}:${n}`,
      client: CLIENTS[who],
      label: LABELS[who],
      token: ++token,
    }
    const waitedMs = Math.round(random() ** 4 * 8_000)
    entries.push(entry(now + from, { ...own, leaseMs: 30_000, waitedMs, path: 'raced', ...more }))
    if (heldMs !== null)
      entries.push(
        entry(now + from + heldMs, { ...own, heldMs, kind: more.kind ?? 'lock', ...end }),
      )
  }
  const busy = ['stock-sync', 'mail', 'search-index', 'order:1002']
  const whos = ['checkout', 'invoices', 'search', 'nightly'] as const
  for (const [i, short] of busy.entries()) {
    let at = -360_000 + 9_000 * i
    for (let n = 0; at < -4_000; n++) {
      const heldMs = Math.round(3_000 + random() ** 2 * 40_000)
      if (at + heldMs > 0) break
      const who = whos[Math.floor(random() * whos.length)] as Who
      const isLost = i === 1 && n === 3
      const lost = { event: 'lost', reason: 'expired', stalledMs: 31_204 } as const
      hold(who, `${i}${n}`, `shop:${short}`, at, heldMs, {}, isLost ? lost : { event: 'released' })
      at += heldMs + Math.round(random() ** 3 * 30_000)
    }
  }
  // The holder was killed. The next holder acquired the lock when the lease had ended, and still holds it.
  hold('cron', 80, 'shop:cron:nightly', -290_000, null)
  hold('nightly', 81, 'shop:cron:nightly', -231_000, 171_000)
  // No client held this lock after the holder was killed.
  hold('mail', 82, 'shop:customer:4', -250_000, null, { limitMs: 30_000 })
  hold('killed', 1, 'shop:order:1001', -214_200, null)
  hold('nightly', 2, 'shop:report', -355_000, null)
  hold(
    'checkout',
    90,
    'shop:refund',
    -200_000,
    61_000,
    {},
    { event: 'forced', reason: 'by dashboard' },
  )
  const permits = { kind: 'permits' } as const
  hold('invoices', '40:1', 'shop:payments', -107_000, null, permits)
  hold('checkout', '41:1', 'shop:payments', -12_000, null, permits)
  hold('search', '42:1', 'shop:payments', -240_000, 170_000, permits)
  hold('nightly', '50:3', 'shop:api-quota', -66_000, null, permits)
  for (let i = 0; i < 12; i++) {
    const kind = { kind: 'read' } as const
    hold('search', 20 + i, 'shop:stock', -48_000 + 3_000 * i, null, kind)
    if (i < 5) hold('invoices', 200 + i, 'shop:stock', -300_000 + 30_000 * i, 70_000, kind)
  }
  for (const at of [-280_000, -190_000, -40_000]) {
    hold('checkout', 300 - at / 1_000, 'shop:slots-old', at, null, { kind: 'semaphore' })
  }
  entries.push(
    entry(now - 71_000, {
      event: 'timeout',
      name: 'shop:order:1001',
      label: 'invoices',
      waitedMs: 5_000,
    }),
  )
  return entries
}

/** The history of that shop. */
export function troubledHistory(now: number): HistoryIndex {
  return indexOf(troubledEntries(now))
}
