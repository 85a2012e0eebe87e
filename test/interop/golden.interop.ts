import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { redissonVersion, useStage } from './support/stage.ts'
import { Monitor, type Step, stepOf, written } from './support/transcript.ts'

const stage = useStage()

const WATCHDOG_MS = 30_000
const SHORT_WATCHDOG_MS = 3_000

const file = join(__dirname, 'golden', `redisson-${redissonVersion}.txt`)

const head = [
  `Redisson ${redissonVersion}: what an RLock named "it" asks of Redis, and leaves behind.`,
  'Commands are as MONITOR shows them, those of a script indented below it. <java> is the id of the',
  'client, <one> and <two> are threads, <request> is the id of one unlock.',
].join('\n')

/** Runs an RLock through its life, and records its commands in Redis. */
async function record(): Promise<Step[]> {
  const { server } = stage
  const short = await stage.newJavaClient({ watchdogMs: SHORT_WATCHDOG_MS })
  const one = stage.javaLock({ name: 'it', thread: 'one' })
  const two = stage.javaLock({ name: 'it', thread: 'two' })
  const brief = stage.javaLock({ name: 'it', thread: 'one', client: short })
  // All calls run once before, so that Redis knows the scripts and all connections exist.
  for (const lock of [one, two, brief]) {
    await lock.lock()
    await stage.javaLock({ name: 'it', thread: 'first' }).tryLock(500)
    await lock.unlock()
    await lock.lock()
    await lock.forceUnlock()
  }
  await eventually(async () => ((await server.admin.pubsub('CHANNELS')) as string[]).length === 0)
  await server.flush()

  const names = new Map([
    [await stage.javaOwner('one'), '<java>:<one>'],
    [await stage.javaOwner('two'), '<java>:<two>'],
    [await stage.javaOwner('one', short), '<java>:<one>'],
    [stage.javaClient.uuid, '<java>'],
  ])
  const monitor = await new Monitor(server).start()
  const steps: Step[] = []
  const step = async (title: string, act: () => Promise<unknown>) => {
    await act()
    const leases = [WATCHDOG_MS, SHORT_WATCHDOG_MS]
    steps.push(await stepOf(title, monitor, server, names, leases))
  }
  /** Waits until the client has deleted its note about the unlock, which happens a moment later. */
  const unlocked = async () => {
    await one.unlock()
    await eventually(() => monitor.hasSeen('del', 'redisson_unlock_latch'))
  }

  await step('lock()', () => one.lock())
  await step('lock() once more, by the same thread', () => one.lock())
  await step('tryLock(1 s), by another thread', async () => {
    await two.tryLock(1_000)
    await eventually(() => monitor.hasSeen('unsubscribe', 'redisson_lock__channel'))
  })
  await step('unlock(), one of two', unlocked)
  await step('unlock(), the last', unlocked)
  await server.flush()
  await monitor.take()
  await one.lock()
  await monitor.take()
  await step('forceUnlock()', () => two.forceUnlock())
  await brief.lock()
  await monitor.take()
  const renewed = () => eventually(() => monitor.hasSeen('pexpire', 'it'))
  await renewed() // the first renewal sends the whole script
  await monitor.take()
  await step(`renewal, with a lockWatchdogTimeout of ${SHORT_WATCHDOG_MS} ms`, renewed)
  await brief.unlock()
  return steps
}

test('the life of an RLock matches its transcript', async () => {
  const now = written(head, await record())
  if (!existsSync(file)) {
    if (process.env.CI === 'true') throw new Error(`There is no ${file}`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, now)
  }
  expect(now).toBe(readFileSync(file, 'utf8'))
})
