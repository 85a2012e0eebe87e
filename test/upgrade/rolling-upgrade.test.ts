import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { startMasters } from '../support/masters.ts'
import { startRedis } from '../support/redis-server.ts'

const root = join(__dirname, '../..')
/** `scripts/previous-version.mjs` built this file. The test writes it to a folder in which it finds ioredis. */
const PREVIOUS = join(root, '.cache/previous-version.mjs')
const LIBRARIES = { old: PREVIOUS, new: join(root, 'dist/esm/src/index.js') }
type Version = keyof typeof LIBRARIES

const PROCESSES = 3
/** Each process must have acquired each kind this often before the next process is replaced. */
const SHARE = 3
const EXCLUSIVE = [
  'plain',
  'fair',
  'multi',
  'kept',
  'write',
  'upgradable',
  'election',
  'quorum',
  'redlock',
]
const KINDS = [...EXCLUSIVE, 'read', 'slots', 'quota', 'latch']
const PERMITS = 2
/** Clients of this version keep the lock `kept` for this time after a release. */
const KEEP_MS = 50

/** @returns the exit code */
function exited(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => void child.once('exit', resolve))
}

test('both versions exclude each other, for each kind, during a rolling upgrade and back', async () => {
  mkdirSync(join(root, '.cache'), { recursive: true })
  writeFileSync(PREVIOUS, gunzipSync(readFileSync(join(root, 'test/upgrade/previous.mjs.gz'))))
  const [server, judge] = await Promise.all([startRedis(), startRedis()])
  const masters = (await startMasters(3)).map(({ url }) => url)
  const witness = judge.admin
  const ours = new Holdfast({ redis: server.url })
  const founder = new Holdfast({ masters, newDeployment: true, outageMs: 20_000 })
  await founder.getLock('first').using(() => {})
  await ours.getSemaphore('slots').trySetPermits(PERMITS)
  await ours.getPermitExpirableSemaphore('quota').trySetPermits(PERMITS)

  let started = 0
  const start = (version: Version) => {
    const name = `${version}-${started++}`
    const { url } = server
    const keepMs = version === 'new' ? KEEP_MS : undefined
    const given = { library: LIBRARIES[version], name, url, masters, witnessUrl: judge.url, keepMs }
    const child = fork(join(__dirname, 'process.mjs'), [JSON.stringify(given)])
    return { name, child, exited: exited(child) }
  }
  const haveWorked = (names: readonly string[]) =>
    eventually(
      async () => {
        expect(await witness.lrange('wrong', 0, -1)).toEqual([])
        const worked = await witness.hgetall('worked')
        return names.every((name) =>
          KINDS.every((kind) => Number(worked[`${name} ${kind}`] ?? 0) >= SHARE),
        )
      },
      { timeoutMs: 40_000, message: 'each process to be let in by each kind' },
    )

  const processes = Array.from({ length: PROCESSES }, () => start('old'))
  await haveWorked(processes.map(({ name }) => name))
  for (const version of ['new', 'old'] as const) {
    for (let i = 0; i < PROCESSES; i++) {
      const before = processes[i] as (typeof processes)[0]
      before.child.send('stop')
      expect(await before.exited).toBe(0)
      processes[i] = start(version)
      await haveWorked([processes[i]?.name as string])
    }
  }
  for (const { child } of processes) child.send('stop')
  for (const one of processes) expect(await one.exited).toBe(0)

  const most = await witness.hgetall('most')
  for (const kind of EXCLUSIVE) expect([kind, most[kind]]).toEqual([kind, '1'])
  for (const kind of ['slots', 'quota']) {
    expect(Number(most[kind])).toBeLessThanOrEqual(PERMITS)
  }
  // Each kind passed from each version to the other version.
  const turns = await witness.hgetall('turns')
  for (const kind of KINDS) {
    for (const turn of ['old>new', 'new>old']) {
      expect([kind, turn, Number(turns[`${kind} ${turn}`] ?? 0) > 0]).toEqual([kind, turn, true])
    }
  }
  expect(await ours.getSemaphore('slots').availablePermits()).toBe(PERMITS)
  expect(await ours.getPermitExpirableSemaphore('quota').availablePermits()).toBe(PERMITS)
  // No waiter and no holder is left.
  await eventually(
    async () => {
      const keys = await server.admin.keys('*')
      return !keys.some((key) =>
        /^holdfast_(queue|waiting|readers|writers|alive|phase|permit_queue|permit_waiters)\b/.test(
          key,
        ),
      )
    },
    { timeoutMs: 10_000, message: 'the last waiter to be gone' },
  )
  await Promise.all([
    ours.getSemaphore('slots').delete(),
    ours.getPermitExpirableSemaphore('quota').delete(),
    ours.getCountDownLatch('latch').delete(),
  ])
  await Promise.all([ours.close(), founder.close()])
  await witness.flushall()
})
