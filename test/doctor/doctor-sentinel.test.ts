import { eventually } from '../support/eventually.ts'
import { startWatched, type WatchedServers } from '../support/redis-sentinel.ts'
import type { RedisServer } from '../support/redis-server.ts'
import { sharedServer } from '../support/redis-server.ts'
import { diagnose, seen } from './diagnose.ts'

const plain = sharedServer()
let watched: WatchedServers
let list: string
beforeAll(async () => {
  watched = await startWatched({ replicas: 1 })
  list = watched.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')
})

const ABOUT = /sentinel|master|failover-slow|unreachable|is-/
const look = (...args: string[]) =>
  diagnose(['--sentinel', list, '--master-name', 'watched', ...args])

test('the doctor checks the master that the Sentinels name', async () => {
  const report = await look()
  const master = watched.servers[0] as RedisServer
  expect(report.place).toBe('sentinel')
  expect(report.servers).toMatchObject([
    { address: `127.0.0.1:${master.port}`, role: 'master', replicas: 1 },
  ])
  expect(report.sentinels.map((one) => one.master)).toEqual(
    watched.sentinels.map(() => `127.0.0.1:${master.port}`),
  )
  expect(report.codes.filter((code) => ABOUT.test(code))).toEqual([])
  expect(report.codes).toEqual(expect.arrayContaining(['failover-loses-locks', 'no-min-replicas']))
})

test('a failover that takes longer than a lease is reported', async () => {
  const report = await look('--lease-ms', '1900')
  expect(seen(report, 'failover-slow')).toHaveLength(3)
  expect(seen(report, 'failover-slow')[0]).toMatchObject({
    level: 'warning',
    numbers: { downAfterMs: 1_000, leaseMs: 1_900, sentinels: 3, quorum: 2 },
  })
  expect((await look('--lease-ms', '2500')).codes).not.toContain('failover-slow')
})

test('a quorum that is too high or too low is reported', async () => {
  const [{ admin }] = watched.sentinels as [RedisServer]
  const set = (quorum: number) => admin.call('SENTINEL', 'SET', 'watched', 'quorum', quorum)
  await set(4)
  expect(seen(await look(), 'sentinel-quorum')).toMatchObject([
    { level: 'error', numbers: { quorum: 4, sentinels: 3 } },
  ])
  await set(1)
  const [low] = seen(await look(), 'sentinel-quorum-low')
  expect(low).toMatchObject({ level: 'warning' })
  expect(low?.fix[0]).toContain('SENTINEL SET watched quorum 2')
  await set(2)
})

test('an unknown master name, and a Sentinel that is down, are reported', async () => {
  const report = await diagnose(['--sentinel', list, '--master-name', 'nobody'])
  expect(seen(report, 'master-unknown')).toHaveLength(3)
  expect(report).toMatchObject({ exitCode: 3, servers: [] })
  const partly = await diagnose(['--sentinel', `${list},127.0.0.1:1`, '--master-name', 'watched'])
  expect(partly.exitCode).toBe(3)
  expect(partly.servers[0]?.reached).toBe(true)
})

test('a login without the right to SENTINEL MASTER is reported with the missing right', async () => {
  const rights = ['+sentinel|get-master-addr-by-name', '+ping']
  for (const { admin } of watched.sentinels) {
    await admin.call('ACL', 'SETUSER', 'asks', 'on', '>secret', ...rights)
  }
  const report = await look('--sentinel-user', 'asks', '--sentinel-pass', 'secret')
  const [unknown] = seen(report, 'master-unknown')
  expect(unknown?.seen).toContain('NOPERM')
  expect(unknown?.fix[0]).toContain("ACL SETUSER <user> '+sentinel|master'")
  for (const { admin } of watched.sentinels) {
    await admin.call('ACL', 'SETUSER', 'asks', '+sentinel|master')
  }
  expect(
    (await look('--sentinel-user', 'asks', '--sentinel-pass', 'secret')).exitCode,
  ).toBeLessThan(2)
})

test('a server in place of a Sentinel, and a Sentinel in place of a server, are reported', async () => {
  const none = await diagnose(['--sentinel', `127.0.0.1:${plain.port}`, '--master-name', 'watched'])
  expect(seen(none, 'master-unknown')[0]?.seen).toContain('ERR unknown command')
  const [sentinel] = watched.sentinels as [RedisServer]
  const given = await diagnose([`127.0.0.1:${sentinel.port}`])
  expect(seen(given, 'is-sentinel')).toMatchObject([{ level: 'error' }])
  expect(given.codes.filter((code) => /rights|refused|clocks|persistence/.test(code))).toEqual([])
})

test('too few Sentinels, Sentinels that disagree, and a master that is down are reported', async () => {
  const two = await startWatched({ replicas: 0, sentinels: 2, downAfterMs: 500 })
  const places = two.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')
  const lookThere = () => diagnose(['--sentinel', places, '--master-name', 'watched'])
  expect(seen(await lookThere(), 'few-sentinels')).toHaveLength(2)
  const [, { admin }] = two.sentinels as [RedisServer, RedisServer]
  await admin.call('SENTINEL', 'REMOVE', 'watched')
  await admin.call('SENTINEL', 'MONITOR', 'watched', '127.0.0.1', plain.port, 2)
  const [disagree] = seen(await lookThere(), 'sentinels-disagree')
  expect(disagree).toMatchObject({ level: 'error', at: null, numbers: { masters: 2 } })
  expect(disagree?.seen).toContain(`names 127.0.0.1:${plain.port}`)
  await two.servers[0]?.kill()
  await eventually(async () => (await lookThere()).codes.includes('master-down'), {
    timeoutMs: 20_000,
    everyMs: 200,
  })
  expect((await lookThere()).exitCode).toBe(3)
})
