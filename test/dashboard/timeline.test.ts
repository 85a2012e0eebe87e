import type { HistoryIndex } from '../../tools/dashboard/handler/history-index.ts'
import type { Knowledge, Span } from '../../tools/dashboard/handler/spans.ts'
import { entry, indexOf } from './entries.ts'

const NOW = 1_000_000
const UNKNOWN = { state: 'unknown', sureUntil: 0 } as const

/** Returns the holds of one lock as the page draws them. All times count from 0. */
function spansIn(
  index: HistoryIndex,
  { known = UNKNOWN, from = 0, now = NOW, key = 'a' }: Partial<Asked> = {},
): readonly Span[] {
  const question = { from, now, key, filter: '' }
  return index.lanes(question, () => ({ now, ...known }))[0]?.spans() ?? []
}

interface Asked {
  readonly known: Omit<Knowledge, 'now'>
  readonly from: number
  readonly now: number
  readonly key: string
}

const acquired = (at: number, token: number, more = {}) =>
  entry(at, { owner: `c${token}:1`, token, leaseMs: 30_000, ...more })
const released = (at: number, token: number, heldMs: number, more = {}) =>
  entry(at, { event: 'released', owner: `c${token}:1`, token, heldMs, ...more })

const drawn = (spans: readonly Span[]) =>
  spans.map(({ token, from, to, ending }) => [token, from, to, ending])

describe('an exclusive lock', () => {
  test('a hold ends at its release, not when the release was confirmed', () => {
    const index = indexOf([acquired(1_000, 1), acquired(1_503, 2), released(1_508, 1, 500)])
    expect(drawn(spansIn(index))).toEqual([
      [1, 1_000, 1_500, 'released'],
      [2, 1_503, null, 'unrecorded'],
    ])
  })

  test('a hold ends at the next token, even if the clocks report a later end', () => {
    const index = indexOf([
      acquired(1_000, 1),
      acquired(1_490, 2),
      released(1_600, 1, 500),
      released(2_000, 2, 300),
    ])
    expect(drawn(spansIn(index))).toEqual([
      [1, 1_000, 1_490, 'released'],
      [2, 1_490, 1_790, 'released'],
    ])
  })

  test('a hold that seems to begin after the next hold ends where the next hold begins', () => {
    const index = indexOf([
      acquired(1_004, 1),
      acquired(1_002, 2),
      acquired(1_000, 3),
      released(1_004, 1, 0),
      released(1_003, 2, 1),
    ])
    expect(drawn(spansIn(index))).toEqual([
      [1, 1_000, 1_000, 'released'],
      [2, 1_000, 1_000, 'released'],
      [3, 1_000, null, 'unrecorded'],
    ])
  })

  test('the order of tokens counts, not the order of entries', () => {
    const index = indexOf([
      acquired(1_000, 1),
      // This entry was written late, after an outage of the history.
      acquired(5_000, 3),
      acquired(3_000, 2, { id: '6000-0' }),
      released(4_900, 2, 1_900, { id: '6000-1' }),
    ])
    expect(drawn(spansIn(index))).toEqual([
      [1, 1_000, 3_000, 'unrecorded'],
      [2, 3_000, 4_900, 'released'],
      [3, 5_000, null, 'unrecorded'],
    ])
  })

  test('a holder that stalled and learns of its loss late does not overlap the next hold', () => {
    const index = indexOf([
      acquired(1_000, 1),
      acquired(31_500, 2),
      entry(91_000, { event: 'lost', owner: 'c1:1', token: 1, heldMs: 90_000, reason: 'expired' }),
    ])
    const [first] = spansIn(index)
    // The lease was not released, so the hold lasted for at least 30 s.
    expect(first).toMatchObject({ to: 31_500, ending: 'lost', sureUntil: 31_000 })
  })

  test('a release long after the next hold began is shown, because it may be a violation', () => {
    const index = indexOf([acquired(1_000, 1), acquired(2_000, 2), released(9_000, 1, 8_000)])
    expect(drawn(spansIn(index))[0]).toEqual([1, 1_000, 9_000, 'released'])
  })

  test('consecutive holds of one owner do not overlap', () => {
    const same = { owner: 'c:1' }
    const index = indexOf([
      acquired(1_000, 1, same),
      acquired(1_200, 2, same),
      released(1_250, 1, 220, same),
    ])
    expect(drawn(spansIn(index))[0]).toEqual([1, 1_000, 1_200, 'released'])
  })

  test('a lock that was released by force ends at that time, although its holder learns it later', () => {
    const forced = { event: 'forced', owner: 'c1:1', label: '', reason: 'by dashboard' } as const
    const lost = { event: 'lost', owner: 'c1:1', token: 1, heldMs: 9_000, reason: 'gone' } as const
    for (const token of [1, null]) {
      const index = indexOf([
        acquired(1_000, 1),
        entry(4_000, { ...forced, token }),
        entry(10_000, lost),
      ])
      expect(drawn(spansIn(index))).toEqual([[1, 1_000, 4_000, 'forced']])
    }
  })
})

describe('a hold without a recorded end', () => {
  const killed = [acquired(10_000, 1)]

  test('a hold without a recorded end is held while the servers name its owner', () => {
    const known = { state: 'held', sureUntil: 0 } as const
    expect(spansIn(indexOf(killed), { known })).toMatchObject([
      { to: null, ending: null, sureUntil: NOW },
    ])
  })

  test('a hold without a recorded end is not known to be held while the servers are not asked', () => {
    expect(spansIn(indexOf(killed))).toMatchObject([
      { to: null, ending: 'unrecorded', sureUntil: 10_000 },
    ])
  })

  test('a hold without a recorded end ends at its fixed lease, or at its maxHoldMs', () => {
    const index = indexOf([acquired(10_000, 1, { leaseMs: 5_000, limitMs: 5_000 })])
    expect(drawn(spansIn(index))).toEqual([[1, 10_000, 15_000, 'unrecorded']])
    expect(spansIn(index, { now: 12_000 })).toMatchObject([{ to: null, sureUntil: 10_000 }])
    const limited = indexOf([acquired(10_000, 1, { limitMs: 90_000 })])
    expect(drawn(spansIn(limited))).toEqual([[1, 10_000, 100_000, 'unrecorded']])
  })

  test('a hold without a recorded end is held after its lease if the servers say so', () => {
    const index = indexOf([acquired(10_000, 1, { leaseMs: 5_000, limitMs: 5_000 })])
    const known = { state: 'held', sureUntil: 0 } as const
    expect(spansIn(index, { known })).toMatchObject([{ to: null, ending: null }])
  })

  test('a hold without a recorded end is certain until the last entry of its client', () => {
    const other = entry(70_000, { owner: 'c1:2', name: 'b', event: 'released', heldMs: 1 })
    expect(spansIn(indexOf([...killed, other]))).toMatchObject([{ sureUntil: 70_000 }])
    // An entry of a forced release names the holder, and has no label.
    const forced = entry(80_000, { owner: 'c1:3', name: 'b', event: 'forced', label: '' })
    expect(spansIn(indexOf([...killed, other, forced]))).toMatchObject([{ sureUntil: 70_000 }])
  })

  test('a hold without a recorded end is left out of a period after the next hold began', () => {
    const index = indexOf([...killed, acquired(40_000, 2), released(50_000, 2, 10_000)])
    expect(spansIn(index, { from: 60_000 })).toEqual([])
    expect(drawn(spansIn(index, { from: 45_000 }))).toEqual([[2, 40_000, 50_000, 'released']])
  })
})

describe('a read-write lock', () => {
  const read = { kind: 'read', token: 5 } as const
  const readers = [
    acquired(1_000, 5, { ...read, owner: 'r1:1' }),
    acquired(1_100, 5, { ...read, owner: 'r2:1' }),
  ]

  test('readers hold at once, until the next writer begins', () => {
    const index = indexOf([...readers, acquired(9_000, 6, { kind: 'write', owner: 'w:1:write' })])
    expect(drawn(spansIn(index))).toEqual([
      [5, 1_000, 9_000, 'unrecorded'],
      [5, 1_100, 9_000, 'unrecorded'],
      [6, 9_000, null, 'unrecorded'],
    ])
  })

  test('a writer that continues to read holds both modes', () => {
    const index = indexOf([
      acquired(1_000, 5, { kind: 'write', owner: 'w:1:write' }),
      acquired(2_000, 5, { kind: 'read', owner: 'w:1' }),
      released(3_000, 5, 2_000, { kind: 'write', owner: 'w:1:write' }),
      released(4_000, 5, 2_000, { kind: 'read', owner: 'w:1' }),
    ])
    expect(drawn(spansIn(index))).toEqual([
      [5, 1_000, 3_000, 'released'],
      [5, 2_000, 4_000, 'released'],
    ])
  })

  test('an upgradable reader overlaps readers, and ends at the next upgradable reader', () => {
    const upgradable = { kind: 'upgradable', token: 5 } as const
    const index = indexOf([
      ...readers,
      acquired(2_000, 5, { ...upgradable, owner: 'u1:1:upgradable' }),
      acquired(3_000, 5, { ...upgradable, owner: 'u2:1:upgradable' }),
    ])
    expect(drawn(spansIn(index))).toEqual([
      [5, 2_000, 3_000, 'unrecorded'],
      [5, 3_000, null, 'unrecorded'],
      [5, 1_000, null, 'unrecorded'],
      [5, 1_100, null, 'unrecorded'],
    ])
  })

  test('one owner may read again under the same token', () => {
    const own = { kind: 'read', owner: 'r:1' } as const
    const index = indexOf([
      acquired(1_000, 5, own),
      released(2_000, 5, 1_000, own),
      acquired(3_000, 5, own),
      released(4_000, 5, 1_000, own),
    ])
    expect(drawn(spansIn(index))).toEqual([
      [5, 1_000, 2_000, 'released'],
      [5, 3_000, 4_000, 'released'],
    ])
  })
})

test('permits overlap, and one without a lease is a moment', () => {
  const index = indexOf([
    acquired(1_000, 1, { kind: 'permits' }),
    acquired(2_000, 2, { kind: 'permits' }),
    released(3_000, 1, 2_000, { kind: 'permits' }),
    acquired(4_000, 0, { kind: 'semaphore' }),
  ])
  const known = { state: 'held', sureUntil: 0 } as const
  expect(drawn(spansIn(index, { known }))).toEqual([
    [0, 4_000, 4_000, 'untold'],
    [1, 1_000, 3_000, 'released'],
    [2, 2_000, null, null],
  ])
})

test('holds of locks that share a name do not end each other', () => {
  const index = indexOf([
    acquired(1_000, 1, { name: 'order:*', isGroup: true }),
    acquired(2_000, 2, { name: 'order:*', isGroup: true }),
  ])
  expect(spansIn(index, { key: 'order:*' }).map(({ to }) => to)).toEqual([null, null])
})

test('an end without a begin gives the length of the hold, and a candidate has its own label', () => {
  const owner = 'c9:1~worker%20A/2'
  const index = indexOf([released(5_000, 9, 3_000, { owner, label: 'host:1' })])
  expect(spansIn(index)).toMatchObject([{ from: 2_000, to: 5_000, label: 'worker A' }])
})

describe('the index in memory', () => {
  const pair = (i: number, name: string) => [
    acquired(i * 10, i, { name }),
    released(i * 10 + 5, i, 5, { name }),
  ]

  test('the index is limited in entries, and a hold leaves with its last entry', () => {
    const entries = Array.from({ length: 500 }, (_, i) => pair(i, `n${i % 7}`)).flat()
    const index = indexOf(entries, { mostEntries: 100 })
    expect(index.size).toBe(100)
    const lanes = index.lanes({ from: 0, now: NOW, key: null, filter: '' }, () => {
      throw new Error('all have an end')
    })
    expect(lanes.flatMap((lane) => lane.spans())).toHaveLength(50)
    expect(index.hasHold('n0', 'c1:1')).toBe(false)
    expect(index.hasHold('n0', 'c499:1')).toBe(true)
  })

  test('the index is limited in bytes, so long names leave room for fewer entries', () => {
    const mostBytes = 1024 * 1024
    const long = (i: number) => `${i}${'x'.repeat(10_000)}`
    const entries = Array.from({ length: 500 }, (_, i) => pair(i, long(i))).flat()
    const index = indexOf(entries, { mostBytes })
    expect(index.bytes).toBeLessThanOrEqual(mostBytes)
    expect(index.size).toBeLessThan(120)
    // A name that many entries have in common is stored once.
    const shared = Array.from({ length: 500 }, (_, i) => pair(i, long(0))).flat()
    expect(indexOf(shared, { mostBytes }).size).toBe(1_000)
  })

  test('the index keeps the last entry even if the entry exceeds the limit of bytes', () => {
    const index = indexOf([...pair(1, 'a'), ...pair(2, 'b')], { mostBytes: 1 })
    expect(index.size).toBe(1)
    const small = index.bytes
    index.add(pair(3, 'b')[0] as never)
    expect(index.bytes).toBe(small)
  })

  test('the index cuts long labels and reasons', () => {
    const label = 'l'.repeat(100_000)
    const index = indexOf([entry(5, { event: 'failed', label, reason: label })])
    const { losses } = index.figures({ from: 0, now: NOW, key: null, filter: '' })
    expect(losses?.[0]?.label).toHaveLength(201)
    expect(losses?.[0]?.reason).toHaveLength(201)
  })
})

describe('figures', () => {
  const question = { now: NOW, key: null, filter: '' }

  test('figures cover the requested period, even if an entry was written late', () => {
    const index = indexOf([
      entry(100_000, { waitedMs: 1 }),
      entry(400_000, { waitedMs: 2 }),
      // Both entries were written after an outage of the history. One event happened before the requested period.
      entry(200_000, { id: '600000-0', waitedMs: 3 }),
      entry(550_000, { id: '600000-1', waitedMs: 4 }),
      entry(700_000, { event: 'timeout', waitedMs: 5 }),
    ])
    expect(index.figures({ ...question, from: 300_000 }).waits).toMatchObject({
      count: 3,
      maxMs: 5,
      p50Ms: 4,
    })
    expect(index.figures({ ...question, from: 0 }).waits?.count).toBe(5)
    expect(index.figures({ ...question, from: 800_000 }).waits).toMatchObject({
      count: 0,
      maxMs: null,
    })
  })

  test('many timeouts do not hide a loss', () => {
    const lost = entry(10, { event: 'lost', owner: 'c:1', token: 1, reason: 'gone' })
    const tries = Array.from({ length: 500 }, (_, i) => entry(20 + i, { event: 'timeout' }))
    const { losses } = indexOf([lost, ...tries]).figures({ ...question, from: 0 })
    expect(losses?.filter(({ event }) => event === 'lost')).toHaveLength(1)
    expect(losses?.length).toBeLessThan(300)
  })
})
