import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Holdfast, type HoldfastOptions, type Lease } from '../../src/index.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'
import { Monitor, read, type Step, stepOf } from './support/transcript.ts'

const server = sharedServer()

const folder = join(__dirname, 'golden')
const fixtures = readdirSync(folder)

const LEASE_MS = 30_000
const SHORT_LEASE_MS = 3_000

/** Keys that only one side leaves: the counter of Holdfast, and the note of Redisson about an unlock. */
const OWN = /^redisson_(lock_token|unlock_latch):/

const shared = (lines: readonly string[]) => lines.filter((line) => !OWN.test(line))

function newClient(options: Omit<HoldfastOptions, 'redis'> = {}): Holdfast {
  const { host, port } = server
  const client = new Holdfast({ redis: { host, port }, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

/** Runs a lock of Holdfast through the steps of the transcript. */
async function live(): Promise<Step[]> {
  const one = newClient().getLock('it')
  const two = newClient().getLock('it')
  const brief = newClient({ leaseMs: SHORT_LEASE_MS })
  const monitor = await new Monitor(server).start()
  const steps: Step[] = []
  const done = async (title: string, lease?: Lease) => {
    const names = new Map(lease ? [[lease.owner, '<java>:<one>']] : [])
    steps.push(await stepOf(title, monitor, server, names, [LEASE_MS, SHORT_LEASE_MS]))
  }

  await one.using(async (lease) => {
    await done('lock()', lease)
    await one.lock()
    await done('lock() once more, by the same thread', lease)
    expect(await two.tryLock(1_000)).toBeNull()
    await done('tryLock(1 s), by another thread', lease)
    await one.unlock()
    await done('unlock(), one of two', lease)
  })
  await done('unlock(), the last')
  await one.lock()
  await monitor.take()
  await two.forceUnlock()
  await done('forceUnlock()')
  const renewed = new Promise((resolve) => brief.once('renewed', resolve))
  const lease = await brief.getLock('it').lock()
  await monitor.take()
  await renewed
  await done(`renewal, with a lockWatchdogTimeout of ${SHORT_LEASE_MS} ms`, lease)
  await lease.release()
  return steps
}

test('there is a transcript for each major version of Redisson', () => {
  expect(fixtures.map((file) => /^redisson-(\d)\.\d+\.\d+\.txt$/.exec(file)?.[1]).sort()).toEqual([
    '3',
    '4',
  ])
})

test.each(fixtures)(
  'a lock of Holdfast leaves the keys, fields, expiries and messages of %s',
  async (file) => {
    const golden = read(readFileSync(join(folder, file), 'utf8'))
    const ours = await live()
    expect(ours.map(({ title }) => title)).toEqual([...golden.keys()])
    for (const { title, leaves, tells } of ours) {
      const theirs = golden.get(title)
      expect({ title, leaves: shared(leaves), tells }).toEqual({
        title,
        leaves: shared(theirs?.leaves ?? []),
        tells: theirs?.tells,
      })
    }
  },
)
