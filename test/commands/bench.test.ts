import { holdfast } from '../doctor/diagnose.ts'
import { eventually } from '../support/eventually.ts'
import { startProxy } from '../support/proxy.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()

interface Report {
  verdict: string
  leaseMs: number
  lines: { code: string; count: number; medianMs: number; p99Ms: number; maxMs: number }[]
}

async function measured(...args: string[]): Promise<Report & { code: number }> {
  const { code, out, err } = await holdfast(['bench', '--json', '--seconds', '1', ...args])
  if (err !== '') throw new Error(err)
  return { ...(JSON.parse(out) as Report), code }
}

const foreign = async () =>
  (await server.admin.keys('*')).filter((key) => !key.startsWith('redisson_lock_token:{holdfast_'))

test('bench prints the time of each step, and leaves only counters that expire soon', async () => {
  const { lines } = await measured(server.url)
  expect(lines.map(({ code }) => code)).toEqual(['ask', 'free', 'renew', 'local', 'other', 'fair'])
  for (const { count, medianMs, p99Ms, maxMs } of lines) {
    expect(count).toBeGreaterThan(0)
    expect(medianMs).toBeGreaterThan(0)
    expect(p99Ms).toBeGreaterThanOrEqual(medianMs)
    expect(maxMs).toBeGreaterThanOrEqual(p99Ms)
  }
  expect(await foreign()).toEqual([])
  for (const key of await server.admin.keys('*')) {
    expect(await server.admin.pttl(key)).toBeGreaterThan(0)
    expect(await server.admin.pttl(key)).toBeLessThanOrEqual(60_000)
  }
})

test('the verdict of bench depends on the lease', async () => {
  const proxy = await startProxy(server.port)
  proxy.delay(50)
  const slow = await measured(proxy.url, '--lease-ms', '3000')
  expect(slow).toMatchObject({ leaseMs: 3_000, code: 1 })
  expect(['slow', 'too-slow']).toContain(slow.verdict)
  expect(slow.lines.find(({ code }) => code === 'ask')?.medianMs).toBeGreaterThanOrEqual(100)
  const good = await measured(server.url, '--lease-ms', '600000')
  expect(good).toMatchObject({ verdict: 'good', code: 0 })
})

test('bench prints its results as text', async () => {
  const { code, out } = await holdfast([
    'bench',
    '--seconds',
    '1',
    '--lease-ms',
    '600000',
    server.url,
  ])
  expect(code).toBe(0)
  expect(out).toMatch(/acquire a free lock, and release it +\d+ +[\d.]+ ms/)
  expect(out).toContain('the watchdog renews a lease of 600000 ms every 200000 ms. Renewals have')
})

test('Ctrl-C ends bench, and bench leaves no lock behind', async () => {
  const interruption = new AbortController()
  const interrupted = () => interruption.signal
  const running = holdfast(['bench', '--seconds', '60', server.url], { interrupted })
  await eventually(() => server.admin.keys('redisson_lock_token:*').then((keys) => keys.length > 0))
  interruption.abort()
  expect(await running).toMatchObject({ code: 130, out: '' })
  expect(await foreign()).toEqual([])
})

test('bench reports an unreachable server, and refuses more than 60 seconds', async () => {
  const { code, out, err } = await holdfast(['bench', 'redis://127.0.0.1:1'])
  expect({ code, out }).toEqual({ code: 3, out: '' })
  expect(err).toContain('ECONNREFUSED')
  expect(await holdfast(['bench', '--seconds', '61'])).toMatchObject({ code: 2 })
})
