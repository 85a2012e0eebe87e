import type { Holdfast } from '../../src/index.ts'
import { newDashboard } from '../../tools/dashboard/dashboard.ts'
import { newSetting } from '../commands/setting.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import type { Detail, Inspected, TableRow } from '../support/printed.ts'

const { server, newClient, inspected: inspect } = newSetting()

/** The state from the library, in the words of the tools. */
interface Told {
  readonly state: string
  readonly holders: number
  readonly waiting: number
}

/** Reads the state of one name with each tool. */
async function everyWay(name: string) {
  const text = (await holdfast(['inspect', name, server.url, '--look-ms=0'])).out
  const listed = (await holdfast(['list', server.url, '--all', '--json'])).out
  const row = listed
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Inspected]))
    .find((one) => one.name === name)
  const dashboard = newDashboard({ redis: server.url, authorize: () => 'read' })
  atEnd(() => dashboard.close(), { beforeCheck: true })
  const ask = async (path: string) =>
    (await dashboard.fetch(new Request(`http://localhost/${path}`))).json()
  const { lock } = (await ask(`api/lock?key=${encodeURIComponent(name)}`)) as { lock: Detail }
  const { rows } = (await ask('api/rows')) as { rows: TableRow[] }
  const shown = rows.find(({ key }) => key === name)
  const inspected = await inspect(name)
  const brief = (one: { stateText: string; holders: readonly unknown[]; waiting: number }) => ({
    state: one.stateText,
    holders: one.holders.length,
    waiting: one.waiting,
  })
  return {
    inspect: brief(inspected),
    text: text.match(/^ {2}state +(.*)$/m)?.[1],
    list: row && brief(row),
    detail: brief(lock),
    dashboard: shown && { ...brief(shown), holders: shown.holderCount },
  }
}

async function expectSame(name: string, told: () => Promise<Told>) {
  const before = await told()
  const { text, ...ways } = await everyWay(name)
  expect(ways).toEqual({ inspect: before, list: before, detail: before, dashboard: before })
  expect(text).toBe(before.state)
}

const permitState = async (client: Holdfast, name: string): Promise<Told> => {
  const { available, taken, waiting } = await client.getPermitExpirableSemaphore(name).inspect()
  return {
    state: `${taken} of ${available + taken} taken`,
    // Each test acquires one permit at a time.
    holders: taken,
    waiting: waiting.length,
  }
}

const ignore = (promise: Promise<unknown>) => void promise.catch(() => {})

describe('the library, list, inspect and the dashboard', () => {
  test('all tools agree about a lock that is held, waited for, and free again', async () => {
    const [client, other] = [newClient(), newClient()]
    const told = async (): Promise<Told> => {
      const { holder, waiters } = await client.getLock('a').inspect()
      return {
        state: holder === null ? 'free' : 'held',
        holders: holder === null ? 0 : 1,
        waiting: waiters,
      }
    }
    const lease = await client.getLock('a').lock()
    await expectSame('a', told)
    const giveUp = new AbortController()
    ignore(other.getLock('a').lock({ signal: giveUp.signal }))
    await eventually(async () => (await told()).waiting === 1)
    await expectSame('a', told)
    giveUp.abort()
    await eventually(async () => (await told()).waiting === 0)
    await lease.release()
    await expectSame('a', told)
  })

  test('all tools agree about a lock whose fixed lease has ended', async () => {
    const client = newClient()
    await client.getLock('ended').lock({ leaseMs: 30 })
    await eventually(async () => !(await client.getLock('ended').isLocked()))
    await expectSame('ended', async () => ({ state: 'free', holders: 0, waiting: 0 }))
  })

  test('all tools agree about a read-write lock with two readers, with a writer, and free', async () => {
    const [client, other, writer] = [newClient(), newClient(), newClient()]
    const told = async (): Promise<Told> => {
      const { mode, holders, waitingToRead, waitingToWrite } = await client
        .getReadWriteLock('rw')
        .inspect()
      const read = holders.length === 1 ? 'read' : `read by ${holders.length}`
      return {
        state: mode === null ? 'free' : mode === 'write' ? 'write' : read,
        holders: holders.length,
        waiting: waitingToRead.length + waitingToWrite.length,
      }
    }
    const first = await client.getReadWriteLock('rw').readLock().lock()
    await expectSame('rw', told)
    const second = await other.getReadWriteLock('rw').readLock().lock()
    await expectSame('rw', told)
    const writing = writer.getReadWriteLock('rw').writeLock().lock()
    await eventually(async () => (await told()).waiting === 1)
    await second.release()
    await expectSame('rw', told)
    await first.release()
    const written = await writing
    await expectSame('rw', told)
    await written.release()
    await expectSame('rw', told)
  })

  test('all tools agree about permits that are partly taken, all taken, too many, and expired', async () => {
    const client = newClient()
    const semaphore = client.getPermitExpirableSemaphore('api')
    const told = () => permitState(client, 'api')
    await semaphore.setPermits(3)
    await expectSame('api', told)
    const one = await semaphore.acquire()
    await expectSame('api', told)
    const two = await semaphore.acquire()
    const three = await semaphore.acquire()
    await expectSame('api', told)
    ignore(newClient().getPermitExpirableSemaphore('api').acquire())
    await eventually(async () => (await told()).waiting === 1)
    await expectSame('api', told)
    await semaphore.setPermits(1)
    await expectSame('api', told)
    for (const permit of [one, two, three]) await permit.release()
    const other = client.getPermitExpirableSemaphore('expired')
    await other.setPermits(2)
    for (let i = 0; i < 2; i++) await other.acquire({ leaseMs: 30 })
    await eventually(async () => (await other.availablePermits()) === 2)
    await expectSame('expired', () => permitState(client, 'expired'))
    expect((await everyWay('expired')).inspect.state).toBe('0 of 2 taken')
  })

  test('all tools agree about permits without leases: available, none, and more taken than set', async () => {
    const client = newClient()
    const semaphore = client.getSemaphore('plain')
    const told = async (): Promise<Told> => {
      const { available, waiting } = await semaphore.inspect()
      const none =
        available === 0
          ? 'none available'
          : `none available, ${-available} more taken than there are`
      return {
        state: available > 0 ? `${available} available` : none,
        holders: 0,
        waiting: waiting.length,
      }
    }
    await semaphore.trySetPermits(2)
    await expectSame('plain', told)
    await semaphore.acquire(2)
    await expectSame('plain', told)
    await semaphore.addPermits(-1)
    await expectSame('plain', told)
  })

  test('all tools agree about a latch that is closed, awaited, and counted down', async () => {
    const client = newClient()
    const latch = client.getCountDownLatch('ready')
    const told = async (): Promise<Told> => {
      const { count, waiters } = await latch.inspect()
      return { state: `closed, ${count} to go`, holders: 0, waiting: waiters }
    }
    await latch.trySetCount(2)
    await expectSame('ready', told)
    ignore(latch.await())
    await eventually(async () => (await told()).waiting === 1)
    await expectSame('ready', told)
    await latch.countDown()
    await expectSame('ready', told)
    await latch.delete()
  })

  test('all tools agree about an election with a leader and a candidate', async () => {
    const [client, other] = [newClient(), newClient()]
    const election = client.getLeaderElection('billing', { label: 'one' })
    const resign = new AbortController()
    const leading = election.lead(
      ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
      {
        signal: resign.signal,
      },
    )
    await eventually(() => election.isLeading)
    const told = async (): Promise<Told> => {
      const { leader, candidateCount } = await election.inspect()
      return {
        state: leader === null ? 'no leader' : 'leader',
        holders: leader === null ? 0 : 1,
        waiting: candidateCount,
      }
    }
    await expectSame('billing', told)
    const giveUp = new AbortController()
    ignore(other.getLeaderElection('billing').lead(() => {}, { signal: giveUp.signal }))
    await eventually(async () => (await told()).waiting === 1)
    await expectSame('billing', told)
    const { out } = await holdfast(['list', server.url])
    expect(out).toMatch(/billing +election +leader +one /)
    giveUp.abort()
    resign.abort()
    await leading.catch(() => {})
  })
})
