import { eventually } from '../support/eventually.ts'
import { startMasters } from '../support/masters.ts'
import { startProxy } from '../support/proxy.ts'
import { type RedisServer, sharedServer, startRedis } from '../support/redis-server.ts'
import { startSettable } from '../support/settable-clock.ts'
import { diagnose, holdfast, STEADY, seen, steady } from './diagnose.ts'

const server = sharedServer()
let masters: RedisServer[]
beforeAll(async () => {
  masters = [server, ...(await startMasters(2))]
})
const urls = () => masters.map(({ url }) => url)
const addressOf = ({ port }: { port: number }) => `127.0.0.1:${port}`

test('three masters without persistence need no repair, and the report has the rest after a restart', async () => {
  const report = await diagnose([...urls(), ...STEADY])
  expect(report).toMatchObject({ verdict: 'ok', exitCode: 0, place: 'masters' })
  expect(seen(report, 'restart-rests')).toMatchObject([
    { level: 'note', at: null, numbers: { longestLeaseMs: 60_000, masters: 3 } },
  ])
  expect(steady(report)).toEqual(['restart-rests'])
  const lessLong = await diagnose([...urls(), '--lease-ms', '1500'])
  expect(seen(lessLong, 'restart-rests')[0]?.why).toContain('3000 ms')
})

test('two masters are reported as an even number, and as too few without persistence', async () => {
  const report = await diagnose(urls().slice(0, 2))
  expect(seen(report, 'even-masters')).toMatchObject([
    { level: 'warning', numbers: { masters: 2 } },
  ])
  expect(seen(report, 'no-persistence')).toHaveLength(2)
})

test('masters with --durability are refused', async () => {
  const { code, err } = await holdfast(['doctor', ...urls().slice(0, 3), '--durability', '1'])
  expect({ code, err }).toMatchObject({
    code: 2,
    err: expect.stringContaining('several masters; got "1"'),
  })
})

test('one server under two addresses is reported', async () => {
  const [first, second] = masters as [RedisServer, RedisServer]
  const report = await diagnose([first.url, second.url, `localhost:${first.port}`])
  const [finding] = seen(report, 'same-server')
  expect(finding?.level).toBe('error')
  expect(finding?.seen).toContain(`127.0.0.1:${first.port} and localhost:${first.port}`)
  expect(finding?.seen).not.toContain(`${second.port}`)
})

describe('a master with a replica', () => {
  let replica: RedisServer
  beforeAll(async () => {
    const config = { 'repl-diskless-sync': 'yes', 'repl-diskless-sync-delay': 0 }
    replica = await startRedis({ config: { ...config, 'repl-ping-replica-period': 1 } })
  })
  const follow = async () => {
    await server.admin.config('SET', 'repl-diskless-sync-delay', 0)
    await replica.admin.replicaof(server.host, server.port)
    await eventually(async () => (await server.admin.wait(1, 100)) === 1)
  }
  afterEach(async () => {
    if (replica.paused) replica.resume()
    await replica.admin.replicaof('NO', 'ONE')
    await server.admin.config('SET', 'min-replicas-to-write', 0)
  })

  test('the report of a master says what a failover loses, and warns about missing min-replicas', async () => {
    await follow()
    const report = await diagnose([server.url])
    expect(seen(report, 'failover-loses-locks')).toMatchObject([
      { level: 'note', numbers: { replicas: 1, online: 1, minReplicasToWrite: 0 } },
    ])
    expect(seen(report, 'no-min-replicas')[0]).toMatchObject({ level: 'warning' })
    // With one replica, a new master would refuse all writes. So the doctor prints no commands before there is a second
    // replica.
    expect(seen(report, 'no-min-replicas')[0]?.fix.filter((line) => !line.startsWith('#'))).toEqual(
      [],
    )
    expect(report.codes).not.toContain('replica-behind')
    expect(report.servers[0]?.replicas).toBe(1)
    await server.admin.config('SET', 'min-replicas-to-write', 1)
    const safer = await diagnose([server.url, '--durability', '1'])
    const about = safer.codes.filter((code) => /replicas|failover/.test(code))
    expect(about).toEqual([])
    const two = await diagnose([server.url, '--durability', '2'])
    expect(seen(two, 'too-few-replicas')).toMatchObject([{ numbers: { online: 1, wanted: 2 } }])
  })

  test('a replica in place of a master is reported, beside its master or alone', async () => {
    await follow()
    const address = addressOf(replica)
    const beside = await diagnose([...urls(), replica.url, masters[1]?.url ?? ''].slice(0, 4))
    expect(seen(beside, 'read-only-replica')).toMatchObject([{ level: 'error', at: address }])
    expect(seen(beside, 'read-only-replica')[0]?.seen).toContain('which was given too')
    const alone = await diagnose([replica.url])
    expect(seen(alone, 'read-only-replica')[0]?.why).toContain('READONLY')
    expect(alone.exitCode).toBe(1)
    expect(alone.codes).not.toContain('missing-rights')
  })

  test('a replica that is cut off and serves old data is reported', async () => {
    const [gone] = await startMasters(1)
    const port = gone?.port ?? 0
    await gone?.kill()
    await replica.admin.replicaof('127.0.0.1', port)
    const report = await diagnose([replica.url])
    expect(seen(report, 'replica-link-down')).toMatchObject([{ numbers: { link: 'down' } }])
    expect(report.codes).toContain('replica-serves-stale')
  })

  test('a replica that no longer answers is reported', async () => {
    await follow()
    replica.pause()
    await eventually(
      async () =>
        Number(/slave0:.*lag=(\d+)/.exec(await server.admin.info('replication'))?.[1]) > 2,
      { timeoutMs: 10_000 },
    )
    const report = await diagnose([server.url])
    expect(seen(report, 'replica-behind')).toMatchObject([
      { level: 'warning', numbers: { replica: addressOf(replica), state: 'online' } },
    ])
  })
})

test('a clock that is ahead of the others is reported (with an embedded Valkey)', async () => {
  const valkey = await startSettable()
  const [first, second] = urls() as [string, string]
  const together = await diagnose([first, second, valkey.url])
  expect(together.codes.filter((code) => code.startsWith('clock'))).toEqual([])
  expect(together.servers[2]).toMatchObject({ server: 'Valkey' })
  expect(seen(together, 'old-version').map(({ at }) => at)).not.toContain(addressOf(valkey))
  await valkey.step(5_000)
  const report = await diagnose([first, second, valkey.url])
  const [apart] = seen(report, 'clocks-apart')
  expect(apart).toMatchObject({ level: 'warning', at: null })
  const { apartMs, boundMs } = (apart?.numbers ?? {}) as { apartMs: number; boundMs: number }
  expect(Math.abs(apartMs - 5_000)).toBeLessThanOrEqual(boundMs + 100)
  expect(apart?.seen).toContain(`The clock of ${addressOf(valkey)} is`)
  expect(seen(report, 'clock-from-here')).toMatchObject([{ level: 'note', at: addressOf(valkey) }])
})

test('the fastest answer gives the offset of a clock and its bound', async () => {
  const proxy = await startProxy(server.port)
  const fault = proxy.delay(1_000, { direction: 'toClient' })
  // The first answers arrive 1,000 ms late, so by these answers the clock is 500 ms off.
  const asking = diagnose([proxy.url, '--scan-keys', '0', '--timeout-ms', '20000'])
  await eventually(() => proxy.count('TIME') === 2, { timeoutMs: 60_000 })
  fault.heal()
  const [line] = (await asking).servers
  expect(Math.abs(line?.clockAheadMs ?? Infinity)).toBeLessThan(450)
  expect(line?.clockBoundMs).toBeLessThan(450)
  expect(line?.slowestMs).toBeGreaterThan(900)
})

test('a master that answers too late for the lease, or nearly too late, is reported', async () => {
  const proxy = await startProxy(server.port)
  const [, second, third] = urls() as [string, string, string]
  const look = (leaseMs: number) =>
    diagnose([proxy.url, second, third, '--lease-ms', `${leaseMs}`, '--scan-keys', '0'])
  const late = (report: Awaited<ReturnType<typeof look>>) =>
    report.findings.filter(({ code, at }) => /^answers/.test(code) && at === addressOf(proxy))
  expect(late(await look(60_000))).toEqual([])
  const fault = proxy.delay(75)
  // A tenth of the lease is 100 ms, and an answer takes 150 ms.
  expect(late(await look(1_000))).toMatchObject([
    { code: 'answers-too-late', level: 'error', numbers: { limitMs: 100 } },
  ])
  // The answer takes more than a quarter of 500 ms, which is a tenth of this lease.
  expect(late(await look(5_000))).toMatchObject([{ code: 'answers-slow', level: 'warning' }])
  fault.heal()
})

test('the doctor sends few commands, over one connection', async () => {
  const proxy = await startProxy(server.port)
  await diagnose([proxy.url])
  const counts = new Map<string, number>()
  for (const { command } of proxy.requests) {
    counts.set(command, (counts.get(command) ?? 0) + 1)
  }
  expect(counts.get('SCAN')).toBe(1)
  expect(counts.get('TIME')).toBe(20)
  expect(proxy.requests.length).toBeLessThan(200)
  expect(proxy.connections).toHaveLength(1)
})
