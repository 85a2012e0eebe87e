import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { StuckTime } from '../../src/servers/memory/stuck-time.ts'
import { createMemoryServer } from '../../src/testing.ts'
import { eventually } from '../support/eventually.ts'
import { catchWarnings } from '../support/warnings.ts'

const warnings = catchWarnings()

/** The time of two checks for waiting calls, in milliseconds of real time. */
const LOOKED_MS = 1_200

test('a warning says once that a call waits for virtual time, and how to advance it', async () => {
  const server = createMemoryServer({ virtualTime: true })
  await using client = server.newClient()
  const other = await server.hold('it')
  const waiting = client.getLock('it').tryLock(5_000)
  await eventually(() => warnings.length > 0)
  expect(warnings[0]).toMatchObject({
    code: 'HOLDFAST_VIRTUAL_TIME',
    message: expect.stringMatching(
      /time stands still.*`await server\.advance\(ms\)`.*after advance\(5000\)/,
    ),
  })
  await server.advance(5_000)
  expect(await waiting).toBeNull()
  const again = client.getLock('it').tryLock(5_000)
  await pause(LOOKED_MS)
  await server.advance(5_000)
  expect(await again).toBeNull()
  expect(warnings).toHaveLength(1)
  await other.release()
})

test('a call that waits during an outage in virtual time causes the warning', async () => {
  const server = createMemoryServer({ virtualTime: true })
  await using client = server.newClient()
  server.beginOutage()
  const failing = client
    .getLock('it')
    .lock()
    .catch((error) => error)
  await eventually(() => warnings.length > 0)
  expect(warnings[0]?.code).toBe('HOLDFAST_VIRTUAL_TIME')
  await server.advance(60_000)
  expect((await failing).code).toBe('HOLDFAST_UNAVAILABLE')
  server.endOutage()
})

test('a wait that ended before the second check does not count for a later wait', async () => {
  const time = { awaited: 1, firstInMs: 1_000 }
  const stuck = new StuckTime(time)
  stuck.checkSoon()
  await pause(750) // one check
  time.awaited = 0
  await pause(900) // one more check
  time.awaited = 1
  stuck.checkSoon()
  await pause(750)
  expect(warnings).toEqual([])
  await eventually(() => warnings.length > 0)
  stuck.advanced()
})

test('a held lease, a test that advances time, and real time cause no warning', async () => {
  const server = createMemoryServer({ virtualTime: true })
  await using client = server.newClient()
  const lease = await client.getLock('held').lock()
  await pause(LOOKED_MS)
  await using other = server.newClient()
  const waiting = other.getLock('held').tryLock(60_000)
  for (let i = 0; i < 5; i++) {
    await pause(300)
    await server.advance(1_000)
  }
  await lease.release()
  await (await waiting)?.release()
  const real = createMemoryServer()
  await using realClient = real.newClient()
  const held = await real.hold('it')
  const late = realClient.getLock('it').tryLock(LOOKED_MS)
  expect(await late).toBeNull()
  expect(warnings).toEqual([])
  await held.release()
})

test('a test of node:test that never advances time ends with the explanation', () => {
  const file = join(__dirname, 'fixtures/forgotten-advance.mjs')
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout, stderr, status } = spawnSync(process.execPath, [file], { encoding: 'utf8', env })
  expect(status).not.toBe(0)
  expect(stdout + stderr).toMatch(/HOLDFAST_VIRTUAL_TIME.*advance\(5000\)/)
})
