import type { CountDownLatch, Holdfast } from '../../src/index.ts'
import { createMemoryServer, type MemoryServer } from '../../src/testing.ts'

let server: MemoryServer
let clients: Holdfast[]

beforeEach(() => {
  server = createMemoryServer({ virtualTime: true })
  clients = []
})
afterEach(() => Promise.all(clients.map((client) => client.close())))

/** Returns a latch of a new client. */
function newLatch(): CountDownLatch {
  const client = server.newClient()
  clients.push(client)
  return client.getCountDownLatch('it')
}

/** Returns the value of a promise now, or undefined while the promise is pending. */
function seen<T>(promise: Promise<T>): { value?: T } {
  const result: { value?: T } = {}
  void promise.then((value) => {
    result.value = value
  })
  return result
}

async function settled<T>(promise: Promise<T>): Promise<T> {
  await server.advance(0)
  return promise
}

/**
 * A client uses a latch during an outage. Before its next try, another client ends the round and starts the next round.
 */
async function overtaken<T>(use: (latch: CountDownLatch) => Promise<T>) {
  const [mine, theirs] = [newLatch(), newLatch()]
  await settled(theirs.trySetCount(1))
  server.beginOutage()
  const using = use(mine)
  await server.advance(5)
  server.endOutage()
  // The other client acts before the next try of the first client.
  await settled(theirs.countDown())
  await settled(theirs.trySetCount(3))
  return { mine, theirs, using }
}

describe('the next round begins during an outage of one client', () => {
  test.each<[string, (latch: CountDownLatch) => Promise<unknown>, unknown]>([
    ['a count-down', (latch) => latch.countDown(), 0],
    ['a delete()', (latch) => latch.delete(), false],
  ])(
    '%s that was called in the earlier round does not change the next round',
    async (_, act, answer) => {
      const { theirs, using } = await overtaken(act)
      await server.advance(1_000)
      expect(await using).toBe(answer)
      expect(await settled(theirs.count())).toBe(3)
    },
  )

  test('a call that awaits the earlier round resolves to true', async () => {
    const { using } = await overtaken((latch) => latch.await())
    const waiting = seen(using)
    await server.advance(1_000)
    expect(waiting.value).toBe(true)
  })
})

test('a call that awaits the earlier round resolves even if its client counts down in the next round', async () => {
  const { mine, using } = await overtaken((latch) => latch.await())
  const waiting = seen(using)
  expect(await settled(mine.countDown())).toBe(2)
  await server.advance(10_000)
  expect(waiting.value).toBe(true)
})

test('a call that waits resolves if the round ends and the next round begins at once', async () => {
  const [mine, theirs] = [newLatch(), newLatch()]
  await settled(theirs.trySetCount(1))
  const waiting = seen(mine.await())
  const done = Promise.all([theirs.countDown(), theirs.trySetCount(3)])
  await server.advance(1_000)
  expect(await done).toEqual([0, true])
  expect(waiting.value).toBe(true)
})

test('two calls that wait resolve when their own client opens the latch and the next round begins at once', async () => {
  const [mine, theirs] = [newLatch(), newLatch()]
  await settled(theirs.trySetCount(1))
  const waiting = [mine.await(), mine.await()].map(seen)
  const done = Promise.all([mine.countDown(), theirs.trySetCount(3)])
  await server.advance(1_000)
  expect(await done).toEqual([0, true])
  expect(waiting.map(({ value }) => value)).toEqual([true, true])
})

test.each<[string, number, (latch: CountDownLatch) => Promise<unknown>, unknown, number]>([
  ['a count-down', 3, (latch) => latch.countDown(), 2, 2],
  ['the last count-down', 1, (latch) => latch.countDown(), 0, 0],
  ['to set the count', 0, (latch) => latch.trySetCount(4), true, 4],
  ['to set a count that is set', 2, (latch) => latch.trySetCount(4), false, 2],
  ['to delete the count', 2, (latch) => latch.delete(), true, 0],
])(
  'a request whose answer is lost in an outage is done once: %s',
  async (_, before, act, answer, after) => {
    const [mine, theirs] = [newLatch(), newLatch()]
    if (before > 0) await settled(theirs.trySetCount(before))
    const acting = act(mine)
    server.beginOutage()
    await server.advance(5)
    server.endOutage()
    await server.advance(1_000)
    expect(await acting).toBe(answer)
    expect(await settled(theirs.count())).toBe(after)
  },
)
