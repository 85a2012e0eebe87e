import { Redis } from 'ioredis'
import { Mutex } from 'redis-semaphore'
import Redlock from 'redlock'
import { Holdfast } from '../../src/index.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()

let client: Redis
let redlock: Redlock
let holdfast: Holdfast

beforeEach(() => {
  client = new Redis(server.url)
  redlock = new Redlock([client], { retryDelay: 10, retryJitter: 5 })
  holdfast = new Holdfast({ redis: client })
})

afterEach(async () => {
  await holdfast.close()
  client.disconnect()
})

const refused = { code: 'HOLDFAST_REFUSED', message: expect.stringContaining('WRONGTYPE') }

test('Holdfast is refused while redlock holds the lock, and acquires it after the release', async () => {
  const theirs = await redlock.acquire(['order'], 10_000)
  await expect(holdfast.getLock('order').tryLock()).rejects.toMatchObject(refused)
  await expect(holdfast.getLock('order').lock()).rejects.toMatchObject(refused)
  await theirs.release()
  const ours = await holdfast.getLock('order').tryLock()
  expect(await ours?.release()).toBe(true)
})

test('redlock waits for a lock that Holdfast holds', async () => {
  const ours = await holdfast.getLock('order').lock()
  await expect(redlock.acquire(['order'], 10_000, { retryCount: 3 })).rejects.toThrow('quorum')
  expect(ours.valid).toBe(true)
  const waiting = redlock.acquire(['order'], 10_000, { retryCount: -1 })
  expect(await ours.release()).toBe(true)
  await (await waiting).release()
})

test('a Mutex of redis-semaphore has another key: with one name both libraries hold a lock', async () => {
  const mutex = new Mutex(client, 'order')
  await mutex.acquire()
  const ours = await holdfast.getLock('order').tryLock()
  expect({ theirs: mutex.isAcquired, ours: ours?.valid }).toEqual({ theirs: true, ours: true })
  await ours?.release()
  await mutex.release()
})

test('a Mutex and a lock with the name of its key exclude each other, and Holdfast reports an error', async () => {
  const mutex = new Mutex(client, 'order', { acquireTimeout: 50 })
  await mutex.acquire()
  await expect(holdfast.getLock('mutex:order').tryLock()).rejects.toMatchObject(refused)
  await mutex.release()
  const ours = await holdfast.getLock('mutex:order').lock()
  expect(await mutex.tryAcquire()).toBe(false)
  await ours.release()
})
