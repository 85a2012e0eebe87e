import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'
import { arrive, leaveBarrier } from '../support/scripts.ts'

const server = sharedServer()

const KEYS = ['it', 'holdfast_barrier:{it}', 'holdfast_settled:{it}'] as const

const arriving = (
  id: string,
  { parties = 3, leaseMs = 60_000, round = '', notAfterUs = 0, answered = [] as string[] } = {},
) =>
  server.admin.eval(
    ...([arrive.source, 3, ...KEYS] as const),
    ...[id, parties, leaseMs, round, notAfterUs, 'holdfast_rounds:{it}', 'PUBLISH', ...answered],
  )
const leaving = (id: string) => server.admin.eval(leaveBarrier.source, 2, KEYS[0], KEYS[2], id)

beforeEach(async () => {
  await server.admin.del(...KEYS)
  atEnd(() => server.admin.del(...KEYS), { beforeCheck: true })
})

test('an arrival that has left is never counted, even if a copy of its request comes later', async () => {
  expect(await leaving('a')).toEqual(['left'])
  expect(await leaving('a')).toEqual(['left'])
  expect(await arriving('a')).toEqual(['gone'])
  expect(await server.admin.exists('it')).toBe(0)
})

test('an arrival whose lease has ended does not count beside an arrival with a longer lease', async () => {
  expect(await arriving('a')).toEqual(['waiting', expect.any(String), 1])
  expect(await arriving('b', { leaseMs: 20 })).toEqual(['waiting', expect.any(String), 2])
  await pause(100)
  expect(await arriving('c')).toEqual(['waiting', expect.any(String), 2])
  expect(await arriving('d')).toEqual(['passed'])
  expect(await arriving('a')).toEqual(['passed'])
  expect(await leaving('c')).toEqual(['passed'])
})

test('a request that is too late is refused, and counts nothing', async () => {
  expect(await arriving('a', { notAfterUs: 1_000_000_000 })).toEqual(['late', expect.any(String)])
  expect(await server.admin.exists(...KEYS)).toBe(0)
})

test('a renewal counts only in its own round', async () => {
  const [, round] = (await arriving('a', { leaseMs: 20 })) as [string, string]
  await pause(100)
  expect(await arriving('b')).toEqual(['waiting', expect.any(String), 1])
  expect(await arriving('a', { round })).toEqual(['gone'])
  expect(await arriving('c')).toEqual(['waiting', expect.any(String), 2])
})

test('each round has a greater number, even if the clock of the server was set back', async () => {
  const nextYearUs = (Date.now() + 365 * 86_400_000) * 1_000
  await server.admin.hset(KEYS[1], 'round', nextYearUs, 'parties', 3)
  expect(await arriving('a')).toEqual(['waiting', String(nextYearUs + 1), 1])
})

test('the server stores an outcome for ten minutes', async () => {
  expect(await arriving('a', { parties: 1 })).toEqual(['passed'])
  expect(await leaving('b')).toEqual(['left'])
  for (const key of [KEYS[1], KEYS[2]]) {
    expect(await server.admin.pttl(key)).toBeGreaterThan(590_000)
  }
  const nowMs = Date.now()
  for (const member of ['=a', '-b']) {
    expect(Number(await server.admin.zscore(KEYS[2], member))).toBeGreaterThan(nowMs + 590_000)
  }
})

test('the server forgets the outcomes that a later request reports as known', async () => {
  expect(await arriving('a', { parties: 1 })).toEqual(['passed'])
  expect(await leaving('b')).toEqual(['left'])
  await arriving('c', { answered: ['a', 'b'] })
  expect(await server.admin.exists(KEYS[2])).toBe(0)
})

test('a message about another round ends no wait', async () => {
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), { beforeCheck: true })
  let isSettled = false
  const waiting = client.getCyclicBarrier('it').await({ parties: 2 })
  waiting.finally(() => {
    isSettled = true
  })
  await eventually(async () => (await server.admin.publish('holdfast_rounds:{it}', '17')) === 1)
  await never(() => isSettled, 200)
  expect(await arriving('z', { parties: 2 })).toEqual(['passed'])
  expect(await waiting).toBe(true)
})
