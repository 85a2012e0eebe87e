import type { Terminal } from '../../tools/cli/command/command.ts'
import { changes } from '../../tools/cli/locks/changes.ts'
import { follow, type View } from '../../tools/cli/locks/follow.ts'
import { run } from '../../tools/cli/run.ts'
import type { LockRow } from '../../tools/inspection/inspection.ts'
import { FakeInspection } from '../dashboard/fake-inspection.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { startRedis } from '../support/redis-server.ts'
import { newSetting } from './setting.ts'

const { server, newClient } = newSetting()

/** Runs the command until the end of the test. */
function watching(args: readonly string[], given: Partial<Terminal> = {}) {
  const stop = new AbortController()
  const seen = { out: '', err: '' }
  const terminal: Terminal = {
    env: {},
    isTerminal: false,
    columns: 100,
    rows: 10,
    interrupted: () => stop.signal,
    out: (text) => {
      seen.out += text
    },
    err: (text) => {
      seen.err += text
    },
    ...given,
  }
  const ended = run(['watch', '--interval-ms', '50', ...args], terminal, '1.2.3')
  const end = () => {
    stop.abort()
    return ended
  }
  atEnd(end, { beforeCheck: true })
  const events = () =>
    seen.out
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
      .map(({ event, name, waiting }) => `${event} ${name ?? ''} ${waiting ?? ''}`.trim())
  return { seen, end, ended, events }
}

test('watch prints each change as a line of JSON: held, waiting, held by the next owner, free', async () => {
  const [client, other] = [newClient({ label: 'api-7' }), newClient({ label: 'api-8' })]
  const first = await client.getFairLock('a').lock()
  const startedAt = Date.now()
  const { seen, end, events } = watching([server.url, '--json'])
  await eventually(() => events().includes('held a 0'))
  const seenAt = Date.now()
  const next = other.getFairLock('a').lock()
  await eventually(() => events().includes('waiting a 1'))
  const lines = () =>
    seen.out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  const held = () => lines().filter(({ event }) => event === 'held')
  await first.release()
  const second = await next
  await eventually(() => held().length === 2)
  await second.release()
  await eventually(() => events().includes('free a 0'))
  expect(await end()).toBe(0)
  // Waiters are counted separately from the queue, so a check may see the end of a waiter one check later.
  expect(held().map(({ token }) => token)).toEqual([first.token, second.token])
  expect(held()[1]).toMatchObject({ holders: [{ owner: second.owner }] })
  expect(events().filter((one) => one.startsWith('free'))).toHaveLength(1)
  const at = Number(new Date(lines()[0].at))
  expect([startedAt, at, seenAt]).toEqual([startedAt, at, seenAt].sort((a, b) => a - b))
  expect(seen.err).toBe('')
})

test('watch without --json prints a change as a line of text', async () => {
  const client = newClient({ label: 'api-7', keyPrefix: 'app:' })
  const lease = await client.getLock('a').lock()
  await newClient().getLock('other').lock()
  await eventually(async () => (await client.clientInfo(client.id)) !== null)
  const { seen, end } = watching(['a*', server.url, '--key-prefix', 'app:'])
  await eventually(() => seen.out !== '')
  await lease.release()
  await eventually(() => seen.out.includes('free'))
  expect(await end()).toBe(0)
  const lines = seen.out
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(26))
  expect(lines).toEqual([`held     a by api-7, token ${lease.token}`, 'free     a'])
})

test('watch draws in place on a terminal, and restores the screen at its end', async () => {
  const client = newClient({ label: 'api-7' })
  const lease = await client.getLock('a').lock()
  for (let i = 0; i < 9; i++) await client.getLock(`b${i}`).lock()
  const { seen, end } = watching([server.url], { isTerminal: true, columns: 60 })
  const frames = () => seen.out.split('\u001b[H').slice(1)
  await eventually(() => frames().length > 2)
  expect(frames()[0]).toMatch(/^10 held, 0 waited for: all locks at /)
  expect(frames()[0]).toContain('and 4 more locks')
  for (const line of frames()[0]?.split('\r\n') ?? []) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what steers the terminal
    expect(line.replace(/\u001b\[[KJ]/g, '').length).toBeLessThanOrEqual(60)
  }
  expect(frames()[0]?.split('\r\n').length).toBeLessThanOrEqual(10)
  await lease.release()
  await eventually(() => /^9 held/.test(frames().at(-1) ?? ''))
  expect(await end()).toBe(0)
  expect(seen.out.startsWith('\u001b[?1049h')).toBe(true)
  expect(seen.out.endsWith('\u001b[?1049l')).toBe(true)
})

test('watch reports an outage once, and continues afterwards', async () => {
  const own = await startRedis()
  const { seen, events, end } = watching([own.url, '--json', '--timeout-ms', '500'])
  const hold = async () => {
    await own.admin.hset('a', 'NxwZr5PVhg5sb0Me8yo04:17', '1')
    await own.admin.pexpire('a', 60_000)
  }
  await hold()
  // The server was up at the first check.
  await eventually(() => events().length === 1, { timeoutMs: 15_000 })
  await own.kill()
  await eventually(() => events().includes('outage'))
  await own.restart()
  await eventually(() => events().includes('back'))
  await hold()
  await eventually(() => events().filter((one) => one === 'held a 0').length === 2, {
    timeoutMs: 15_000,
  })
  expect(await end()).toBe(0)
  expect(events()).toEqual(['held a 0', 'outage', 'back', 'free a 0', 'held a 0'])
  const outage = seen.out.split('\n').find((line) => line.includes('outage')) ?? ''
  expect(JSON.parse(outage).message).toMatch(/127\.0\.0\.1:\d+ cannot be asked|closed/)
  await own.flush()
})

describe('a scan that takes longer than the interval', () => {
  /** Scans twice. The test changes locks during the second scan, and this scan returns an older row of `a`. */
  async function eventsOf(change: (inspection: FakeInspection) => void, fails = false) {
    const hold = (owner: string) => ({ holders: [{ owner }] })
    const inspection = new FakeInspection()
    for (const key of ['a', 'b', 'missed']) inspection.set(key, hold('client:1'))
    let scans = 0
    inspection.list = async function* (this: FakeInspection) {
      const rows = (keys: string[]) => keys.flatMap((key) => this.get(key) ?? [])
      scans++
      yield rows(scans === 1 ? ['a', 'missed'] : ['a'])
      if (scans === 2) change(this)
      yield rows(scans === 1 ? [] : ['b'])
      if (scans === 2 && fails) throw new Error('away')
    }
    const realNow = performance.now.bind(performance)
    let laterMs = 0
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => realNow() + laterMs)
    const [stop, events] = [new AbortController(), [] as string[]]
    try {
      let before: View = { rows: [], failure: null }
      let looksAfter = 0
      const options = { pattern: undefined, intervalMs: 0, signal: stop.signal }
      for await (const view of follow(inspection, options)) {
        for (const one of changes(before, view)) {
          events.push('row' in one ? `${one.event} ${one.row.key} ${ownerIn(one.row)}` : one.event)
        }
        before = view
        // The next scan is due by then.
        laterMs = 6_000
        if (scans >= 2 && ++looksAfter === 8) stop.abort()
      }
    } finally {
      clock.mockRestore()
    }
    return events
  }
  const ownerIn = ({ holders }: LockRow) => holders.map(({ owner }) => owner).join()
  const begun = ['held a client:1', 'held missed client:1']

  test('a slow scan does not bring back a holder that has changed', async () => {
    const handOn = (inspection: FakeInspection) =>
      inspection.set('a', { holders: [{ owner: 'client:2' }] })
    expect(await eventsOf(handOn)).toEqual([...begun, 'held a client:2', 'held b client:1'])
  })

  test('a slow scan does not bring back a lock that is free', async () => {
    expect(await eventsOf((inspection) => inspection.set('a'))).toEqual([
      ...begun,
      'held b client:1',
      'free a ',
    ])
  })

  test('a slow scan that misses a lock does not report the lock as free', async () => {
    expect(await eventsOf(() => undefined)).toEqual([...begun, 'held b client:1'])
  })

  test('a slow scan that fails loses no event', async () => {
    const events = await eventsOf(() => undefined, true)
    expect(events.filter((one) => one.startsWith('held b'))).toHaveLength(1)
  })
})

test('an outage that lasts is reported once, and its end is reported', () => {
  const [up, down] = [
    { rows: [], failure: null },
    { rows: [], failure: 'away' },
  ]
  expect([...changes(up, down)]).toEqual([{ event: 'outage', message: 'away' }])
  expect([...changes(down, down)]).toEqual([])
  expect([...changes(down, up)]).toEqual([{ event: 'back' }])
})

test('watch fails if the server is unreachable at the first check', async () => {
  const { ended, seen } = watching(['127.0.0.1:1', '-u', '127.0.0.1:1'])
  expect(await ended).toBe(3)
  expect(seen.err).toContain('cannot be asked')
})
