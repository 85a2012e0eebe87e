import { type AccessOptions, createDashboard } from '../../tools/dashboard/handler/create.ts'
import { eventually, eventuallyPasses } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { FakeInspection, processOf } from './fake-inspection.ts'

function start(locks: FakeInspection, access: Partial<AccessOptions> = {}) {
  const dashboard = createDashboard(
    locks.open,
    { authorize: () => 'read', ...access },
    { times: { lingerMs: 1, scanMs: 10 } },
  )
  atEnd(() => dashboard.close(), { beforeCheck: true })
  const ask = (path: string, init: RequestInit = {}, context?: unknown) =>
    dashboard.fetch(new Request(`http://d${path}`, init), context)
  return { dashboard, ask }
}

const RELEASE = '/locks/api/release?key=a&owner=x:1&token=7'
const OWN = { method: 'POST', headers: { 'holdfast-dashboard': 'release' } }

const jsonOf = async (response: Response | Promise<Response>) =>
  JSON.parse(await (await response).text())

function held(): FakeInspection {
  const locks = new FakeInspection()
  locks.set('a', { token: 7, holders: [{ owner: 'x:1', process: processOf('billing') }] })
  return locks
}

describe('the page', () => {
  test.each(['/locks/', '/', '/deep/er/locks/'])('the page is at %s', async (path) => {
    const { ask } = start(held())
    const response = await ask(path)
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('<title>Locks')
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  test('the page loads nothing from other sites, and is neither cached nor framed', async () => {
    const { headers } = await start(held()).ask('/locks/')
    expect(headers.get('content-security-policy')).toContain(
      "default-src 'none'; script-src 'self'",
    )
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe|https?:|\*/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  })

  test('a path without a final slash is redirected to the path with the slash', async () => {
    const { ask } = start(held())
    for (const path of ['/locks', '/deep/locks', '/x//javascript:alert(1)', '/constructor']) {
      const response = await ask(path)
      expect(response.status).toBe(308)
      const last = path.slice(path.lastIndexOf('/') + 1)
      expect(response.headers.get('location')).toBe(`./${last}/`)
    }
  })

  test('the page has every style sheet and script that it names', async () => {
    const { ask } = start(held())
    const page = await (await ask('/locks/')).text()
    const names = [...page.matchAll(/(?:href|src)="([a-z-]+\.(?:css|js))"/g)].map(
      ([, name]) => name,
    )
    expect(names).toContain('chart.css')
    for (const name of names)
      expect([name, (await ask(`/locks/${name}`)).status]).toEqual([name, 200])
  })

  test('the page has every module that its modules import', async () => {
    const { ask } = start(held())
    const seen = new Set(['page.js'])
    for (const name of seen) {
      const response = await ask(`/locks/${name}`)
      expect([name, response.status]).toEqual([name, 200])
      const found = (await response.text()).matchAll(/from '\.\/([a-z-]+\.js)'/g)
      for (const [, next = ''] of found) seen.add(next)
    }
    expect(seen).toContain('kinds.js')
  })

  test('the dashboard serves its own files only', async () => {
    const { ask } = start(held())
    expect((await ask('/locks/page.js')).headers.get('content-type')).toContain('javascript')
    expect((await ask('/locks/page.ts')).status).toBe(404)
    expect((await ask('/locks/..%2fpage.env')).status).toBe(404)
  })
})

describe('authorize', () => {
  test('authorize refuses every path with "none", and nothing is read from the server', async () => {
    const locks = held()
    const { ask } = start(locks, { authorize: () => 'none' })
    for (const path of ['/locks/', '/locks/page.js', '/locks/api/rows', '/locks/api/stream']) {
      expect((await ask(path)).status).toBe(403)
    }
    expect(locks.asked.opened).toBe(0)
  })

  test('authorize can answer by itself, and receives the request and its context', async () => {
    const { ask } = start(held(), {
      authorize: (request, context) =>
        (context as { user?: string })?.user === 'ann' && request.headers.get('cookie') === 's=1'
          ? 'read'
          : new Response(null, { status: 302, headers: { location: '/login' } }),
    })
    const away = await ask('/locks/')
    expect([away.status, away.headers.get('location')]).toEqual([302, '/login'])
    const headers = { cookie: 's=1' }
    expect((await ask('/locks/', { headers }, { user: 'ann' })).status).toBe(200)
  })
})

describe('the JSON', () => {
  test('api/rows has all locks after a complete scan', async () => {
    const { ask } = start(held())
    const body = await jsonOf(ask('/locks/api/rows'))
    expect(body).toMatchObject({
      status: { state: 'live', address: '10.0.0.5:6379' },
      totals: { locks: 1, held: 1 },
      rows: [{ key: 'a', state: 'held', holders: [{ owner: 'x:1', label: 'billing' }] }],
    })
  })

  test('api/lock has one lock, and what frees it', async () => {
    const { ask } = start(held())
    const body = await jsonOf(ask('/locks/api/lock?key=a'))
    expect(body.lock).toMatchObject({ key: 'a', holders: [{ label: 'billing', pid: 4_711 }] })
    expect(body.toFree.sentences[0]).toMatch(
      /^billing was last seen .* 4711 on web-1 .* Then wait at most \d+ s,/,
    )
    expect(body.toFree.command).toMatch(/^npx holdfast release --force --token \d+ -- a$/)
  })

  test('a request that cannot be answered is refused, and the error shows the value', async () => {
    const { ask } = start(held())
    const errorOf = async (path: string) => {
      const response = await ask(path)
      return [response.status, (await jsonOf(response)).error]
    }
    expect(await errorOf('/locks/api/lock')).toEqual([400, expect.stringContaining('key')])
    expect(await errorOf('/locks/api/lock?key=b')).toEqual([404, expect.stringContaining('"b"')])
    expect(await errorOf('/locks/api/past?minutes=x')).toEqual([
      400,
      expect.stringContaining('"x"'),
    ])
  })

  test('an outage is reported with status 502 and the error', async () => {
    const locks = held()
    locks.outage = 'connect ECONNREFUSED'
    const { ask } = start(locks)
    for (const path of ['rows', 'lock?key=a']) {
      const response = await ask(`/locks/api/${path}`)
      expect(response.status).toBe(502)
      expect((await jsonOf(response)).error).toContain('ECONNREFUSED')
    }
  })

  test('reading needs GET, and a release needs POST', async () => {
    const { ask } = start(held(), { authorize: () => 'admin', release: true })
    expect((await ask('/locks/api/rows', { method: 'POST' })).status).toBe(405)
    const response = await ask(RELEASE)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe('a forced release', () => {
  test.each<[string, Partial<AccessOptions>, RequestInit]>([
    ['while it is switched off', { authorize: () => 'admin' }, OWN],
    ['for a user who may only read', { release: true }, OWN],
    [
      'without the header of the page',
      { authorize: () => 'admin', release: true },
      { method: 'POST' },
    ],
    [
      'for a page of another site',
      { authorize: () => 'admin', release: true },
      { ...OWN, headers: { ...OWN.headers, 'sec-fetch-site': 'same-site' } },
    ],
    [
      'for a page of another origin',
      { authorize: () => 'admin', release: true },
      { ...OWN, headers: { ...OWN.headers, origin: 'http://evil.example', host: 'd' } },
    ],
    [
      'for a page without an origin',
      { authorize: () => 'admin', release: true },
      { ...OWN, headers: { ...OWN.headers, origin: 'null', host: 'd' } },
    ],
  ])('a forced release is refused %s', async (_, access, init) => {
    const locks = held()
    const response = await start(locks, access).ask(RELEASE, init)
    expect(response.status).toBe(403)
    expect(locks.released).toEqual([])
  })

  test.each([
    ['the page', { 'sec-fetch-site': 'same-origin' }],
    ['the page over plain HTTP', { origin: 'http://d', host: 'd' }],
    ['a program', {}],
  ])('a forced release for %s ends the hold of the given owner and token', async (_, more) => {
    const locks = held()
    const told: unknown[] = []
    const { ask } = start(locks, {
      authorize: () => 'admin',
      release: true,
      onRelease: (event, context) => told.push([event, context]),
    })
    const response = await ask(RELEASE, { ...OWN, headers: { ...OWN.headers, ...more } }, 'ann')
    expect([response.status, await jsonOf(response)]).toMatchObject([200, { outcome: 'released' }])
    expect(locks.released).toEqual([['a', { owner: 'x:1', token: 7 }]])
    expect(told).toEqual([[{ key: 'a', owner: 'x:1', token: 7, outcome: 'released' }, 'ann']])
  })

  test.each([
    'key=a&token=7',
    'owner=x&token=7',
    'key=a&owner=x&token=seven',
    'key=a&owner=x&token=1.5',
  ])('a forced release is refused for the query %s', async (query) => {
    const locks = held()
    const { ask } = start(locks, { authorize: () => 'admin', release: true })
    expect((await ask(`/locks/api/release?${query}`, OWN)).status).toBe(400)
    expect(locks.released).toEqual([])
  })
})

test('the timeline without a history shows what the dashboard has seen, and says so', async () => {
  const locks = held()
  const { ask } = start(locks)
  await ask('/locks/api/rows')
  locks.set('a', { holders: [{ owner: 'y:1', ageMs: 10, process: processOf('shop') }] })
  await eventuallyPasses(async () => {
    await ask('/locks/api/rows')
    const past = await jsonOf(ask('/locks/api/past?key=a'))
    expect(past).toMatchObject({
      source: 'poll',
      waits: null,
      losses: null,
      lanes: [
        {
          key: 'a',
          spans: [
            { owner: 'x:1', ending: 'seen' },
            { owner: 'y:1', to: null },
          ],
        },
      ],
    })
    const [first, second] = past.lanes[0].spans
    expect(first.to).toBeLessThanOrEqual(second.from)
  })
})

test('a hold that ended between two checks has an end between the times of the checks', async () => {
  const locks = held()
  const { ask } = start(locks)
  await ask('/locks/api/rows')
  const lookedAt = Date.now()
  await eventually(() => locks.asked.closed === 1)
  // The dashboard does not poll without a viewer, so the end is unknown.
  const unknown = (await jsonOf(ask('/locks/api/past?key=a'))).lanes[0].spans[0]
  expect(unknown).toMatchObject({ to: null, ending: 'unrecorded' })
  expect(unknown.sureUntil).toBeLessThanOrEqual(lookedAt)
  locks.set('a')
  await new Promise((resolve) => setTimeout(resolve, 30))
  const endedBefore = Date.now()
  await ask('/locks/api/rows')
  const [span] = await eventually(async () => {
    const { spans } = (await jsonOf(ask('/locks/api/past?minutes=6&key=a'))).lanes[0]
    return spans[0].ending === 'seen' && spans
  })
  expect(span.sureUntil).toBeLessThanOrEqual(lookedAt)
  expect(span.to).toBeGreaterThanOrEqual(endedBefore)
})

test('a hold on a node that cannot be reached has not ended', async () => {
  const locks = held()
  const { ask } = start(locks, {})
  await ask('/locks/api/rows')
  locks.locks.delete('a')
  locks.unreachable = [{ address: '10.0.0.6:6379', reason: 'node 10.0.0.6:6379 cannot be reached' }]
  await eventually(async () => (await jsonOf(ask('/locks/api/rows'))).rows.length === 0)
  const { status } = await jsonOf(ask('/locks/api/rows'))
  expect(status.missing).toEqual(['node 10.0.0.6:6379 cannot be reached'])
  const [span] = (await jsonOf(ask('/locks/api/past?key=a'))).lanes[0].spans
  expect(span).toMatchObject({ owner: 'x:1', to: null, ending: 'unrecorded' })
})

test('a reader that a row no longer names has not ended', async () => {
  const locks = new FakeInspection()
  const readers = (...owners: string[]) =>
    locks.set('rw', {
      kind: 'read-write',
      state: 'read',
      holders: owners.map((owner) => ({ owner, ageMs: 1_000 })),
    })
  readers('r1:1', 'r2:1', 'r3:1')
  const { ask } = start(locks)
  await ask('/locks/api/rows')
  readers('r4:1', 'r5:1', 'r6:1', 'r1:1', 'r3:1')
  await eventually(async () => (await jsonOf(ask('/locks/api/rows'))).rows[0].holderCount === 5)
  const spans: { owner: string; ending: string | null }[] = (
    await jsonOf(ask('/locks/api/past?key=rw'))
  ).lanes[0].spans
  const ended = spans.filter(({ ending }) => ending === 'seen').map(({ owner }) => owner)
  expect(ended).toEqual(['r2:1'])
})

test('the detail of a lock with 5,000 holders has the first 200 holders and the number of all holders', async () => {
  const locks = new FakeInspection()
  const holders = Array.from({ length: 5_000 }, (_, i) => ({ owner: `r${i}:1` }))
  locks.set('rw', { kind: 'read-write', state: 'read', holders })
  const { lock } = await jsonOf(start(locks).ask('/locks/api/lock?key=rw'))
  expect([lock.holders.length, lock.holderCount]).toEqual([200, 5_000])
})

test('a holder has the longest lease that was seen', async () => {
  const locks = held()
  const { ask } = start(locks)
  const leaseMs = async () => (await jsonOf(ask('/locks/api/rows'))).rows[0].holders[0].leaseMs
  const holder = (ttlMs: number | null, ageMs: number) =>
    locks.set('a', { holders: [{ owner: 'x:1', ttlMs, ageMs }] })
  holder(12_345, 1_000)
  await eventually(async () => (await leaseMs()) === 13_000)
  holder(29_980, 1_000)
  await eventually(async () => (await leaseMs()) === 30_000)
  holder(10_000, 1_000)
  const { scan } = locks.asked
  await eventually(async () => (await leaseMs()) === 30_000 && locks.asked.scan > scan + 3)
  holder(null, 1_000)
  await eventually(async () => (await leaseMs()) === null)
})

test('the totals have the oldest wait, and leave out latches and candidates of elections', async () => {
  const locks = held()
  const waiting = { waiting: 2, oldestWaitMs: 60_000 }
  locks.set('e', { kind: 'election', state: 'held', holders: [{}], ...waiting, oldestWaitMs: 1e9 })
  locks.set('l', { kind: 'latch', state: 'closed', stateText: 'closed, 2 to go' })
  locks.set('b', { holders: [{}], ...waiting })
  const { now, totals } = await jsonOf(start(locks).ask('/locks/api/rows'))
  expect(totals).toMatchObject({ locks: 4, held: 3, waiting: 2 })
  expect(now - totals.waitingSince).toBeGreaterThanOrEqual(60_000)
  expect(now - totals.waitingSince).toBeLessThan(600_000)
})

test('a viewer that comes back after a pause does not receive old rows', async () => {
  const locks = held()
  const { ask } = start(locks)
  await ask('/locks/api/rows')
  await eventually(() => locks.asked.closed === 1)
  locks.locks.delete('a')
  expect((await jsonOf(ask('/locks/api/rows'))).rows).toEqual([])
})
