import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Holdfast, InvalidArgumentError, type Lease } from '../../src/index.ts'
import { createMemoryServer, type MemoryServer } from '../../src/testing.ts'

let server: MemoryServer
let one: Holdfast
let two: Holdfast

beforeEach(() => {
  server = createMemoryServer({ virtualTime: true })
  one = server.newClient()
  two = server.newClient()
})
afterEach(() => Promise.all([one.close(), two.close()]))

/** Records events with their times in seconds. */
function diary() {
  const entries: string[] = []
  let seconds = 0
  return {
    entries,
    write: (what: string) => entries.push(`${seconds} s: ${what}`),
    async pass(until: number) {
      for (; seconds < until; ) {
        seconds += 1
        await server.advance(1_000)
      }
    },
  }
}

const told = (pending: Promise<unknown>, tell: (what: string) => void, what: string) =>
  pending.then(
    () => tell(what),
    (error: Error) => tell(`${what}: ${error.name}`),
  )

test('a watched lease is renewed for an hour of virtual time in one step', async () => {
  let renewals = 0
  one.on('renewed', () => {
    renewals += 1
  })
  const lease = await one.getLock('it').lock()
  // The time limit of a test is much shorter than an hour of real time.
  await server.advance(3_600_000)
  expect(renewals).toBe(360)
  expect([lease.valid, lease.signal.aborted]).toEqual([true, false])
  expect(lease.remaining()).toBeGreaterThan(25_000)
  expect(await two.getLock('it').tryLock()).toBeNull()
})

test('time stands still between steps, and a step of 0 only runs pending work', async () => {
  const lease = await one.getLock('it').lock(10_000)
  const left = lease.remaining()
  let got: Lease | undefined
  void two
    .getLock('free')
    .lock()
    .then((lease) => {
      got = lease
    })
  await server.advance(0)
  expect(got?.valid).toBe(true)
  expect(lease.remaining()).toBeCloseTo(left, 1)
  await server.advance(1_000)
  expect(lease.remaining()).toBeCloseTo(left - 1_000, 1)
})

test.each(['getLock', 'getFairLock'] as const)(
  'the timeout, the loss and the grant of %s happen in order and at their times',
  async (form) => {
    const { entries, write, pass } = diary()
    const lease = await one[form]('it').lock(10_000)
    lease.signal.addEventListener('abort', () => write(`lost: ${lease.signal.reason.reason}`))
    void told(two[form]('it').tryLock(5_000), write, 'given up')
    void told(two[form]('it').lock(), write, 'next')
    await pass(4)
    expect(entries).toEqual([])
    await pass(20)
    expect(entries).toEqual(['5 s: given up', '10 s: lost: expired', '11 s: next'])
  },
)

test('the order of events is the same within a single step', async () => {
  const seen: string[] = []
  const lease = await one.getLock('it').lock(10_000)
  lease.signal.addEventListener('abort', () => seen.push('lost'))
  void told(two.getLock('it').tryLock(5_000), (what) => seen.push(what), 'given up')
  const next = two.getLock('it').using(async () => {
    seen.push('next')
    await one.getLock('other').using(() => seen.push('and what it does'))
  })
  await server.advance(60_000)
  expect(seen).toEqual(['given up', 'lost', 'next', 'and what it does'])
  await next
})

test('read-write locks, permits, latches, elections and multi-locks use virtual time as well', async () => {
  const { entries, write, pass } = diary()
  await one.getReadWriteLock('rw').readLock().lock(3_000)
  void told(two.getReadWriteLock('rw').writeLock().lock(), write, 'writes')

  const permits = one.getPermitExpirableSemaphore('permits')
  await permits.setPermits(1)
  await permits.acquire({ leaseMs: 6_000 })
  void told(two.getPermitExpirableSemaphore('permits').acquire(), write, 'has a permit')

  const semaphore = one.getSemaphore('plain')
  await semaphore.trySetPermits(1)
  await semaphore.acquire()
  void told(two.getSemaphore('plain').tryAcquire({ waitMs: 9_000 }), write, 'no permit')

  await one.getCountDownLatch('latch').trySetCount(1)
  void told(two.getCountDownLatch('latch').await({ waitMs: 12_000 }), write, 'not open')

  await one.getLock('a').lock(15_000)
  void told(two.getMultiLock(two.getLock('a'), two.getLock('b')).lock(), write, 'both')

  const leading = one.getLeaderElection('it').lead((term) => {
    write('leads')
    return new Promise((resolve) => term.signal.addEventListener('abort', resolve))
  })
  void told(leading, write, 'led')
  await server.advance(0)
  await pass(18)
  await one.close()
  await server.advance(0)
  expect(entries).toEqual([
    '0 s: leads',
    expect.stringMatching(/^[34] s: writes/),
    expect.stringMatching(/^[67] s: has a permit/),
    '9 s: no permit',
    '12 s: not open',
    expect.stringMatching(/^1[56] s: both/),
    '18 s: led: ClosedError',
  ])
})

test('each server has its own virtual time', async () => {
  const other = createMemoryServer({ virtualTime: true })
  const client = other.newClient()
  const [here, there] = [
    await one.getLock('it').lock(5_000),
    await client.getLock('it').lock(5_000),
  ]
  await server.advance(5_000)
  expect([here.valid, there.valid]).toEqual([false, true])
  await client.close()
})

test('fake timers and virtual time do not affect each other', async () => {
  jest.useFakeTimers()
  try {
    let fired = false
    setTimeout(() => {
      fired = true
    }, 1_000)
    const before = Date.now()
    const lease = await one.getLock('it').lock(5_000)
    const waiting = two.getLock('it').lock()
    await server.advance(6_000)
    expect(lease.signal.aborted).toBe(true)
    await (await waiting).release()
    expect([fired, Date.now()]).toEqual([false, before])
    await jest.advanceTimersByTimeAsync(3_600_000)
    expect((await two.getLock('it').lock()).valid).toBe(true)
    await one.close()
  } finally {
    jest.useRealTimers()
  }
})

test('a lock that is acquired during `advance()` does not belong to the frame that advances', async () => {
  const lock = one.getLock('it')
  const gate = await two.getLock('gate').lock(5_000)
  gate.signal.addEventListener('abort', () => void lock.lock())
  const isHeldThere = await one.run(async () => {
    await server.advance(10_000)
    return lock.isHeld()
  })
  expect([isHeldThere, await lock.isHeld()]).toEqual([false, true])
})

describe('misuse', () => {
  test.each([-1, 0.5, NaN, Infinity, '10'])('advance(%p) is refused', async (ms) => {
    const advancing = server.advance(ms as number)
    await expect(advancing).rejects.toThrow(InvalidArgumentError)
    await expect(advancing).rejects.toThrow('advance(ms) takes a whole number of milliseconds')
  })

  test('`advance()` is refused by a server with real time', async () => {
    const advancing = createMemoryServer().advance(1_000)
    await expect(advancing).rejects.toThrow(InvalidArgumentError)
    await expect(advancing).rejects.toThrow('createMemoryServer({ virtualTime: true })')
  })

  test.each([
    [{ virtualtime: true }, 'There is no option `virtualtime` here. There are: virtualTime.'],
    [{ virtualTime: 1 }, '`virtualTime` must be true or false; got 1.'],
    [null, 'must be an object with `virtualTime`; got null.'],
  ])('createMemoryServer(%j) is refused', (options, message) => {
    expect(() => createMemoryServer(options as object)).toThrow(message)
    expect(() => createMemoryServer(options as object)).toThrow(InvalidArgumentError)
  })
})

test('the engine reads real time only in the files that are listed here', () => {
  const src = resolve(__dirname, '../../src')
  /** Files that never run in memory, the clocks themselves, and a warning for people. */
  const byRealTime =
    /^(servers\/(redis|quorum|availability)|observe)\/|^kit\/clock|^locks\/lock\/self-wait-warning/
  const found = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !byRealTime.test(file))
    .flatMap((file) => {
      const code = readFileSync(join(src, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
      const real = code.match(
        /performance\.now|\bDate\.now|\bset(Timeout|Interval|Immediate)\(|timers\/promises/g,
      )
      return real === null ? [] : [`${file}: ${real}`]
    })
  expect(found).toEqual([
    // Used at the end, after the event loop was blocked.
    'local/backend.ts: timers/promises',
    'servers/memory/memory-server.ts: Date.now',
    'servers/memory/virtual-clock.ts: Date.now',
  ])
})
