import type { Holdfast } from '../../src/index.ts'
import { atLoad } from '../support/at-load.ts'
import { eventuallyPasses } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { refusal } from '../support/refusal.ts'
import { errorOf } from './both-places.ts'
import { semaphoreOf, semaphoreRig } from './support.ts'

const rig = semaphoreRig()

/** From now until the end of the test, the server has no free memory. */
async function fill(): Promise<void> {
  atEnd(() => rig.server.admin.config('SET', 'maxmemory', '0'), { beforeCheck: true })
  await rig.server.admin.config('SET', 'maxmemory', '1')
}

async function withPermits(permits: number): Promise<Holdfast> {
  const client = rig.client({ outageMs: 2_000 })
  await semaphoreOf(client).trySetPermits(permits)
  return client
}

test('a full server accepts the release of plain permits', async () => {
  const client = await withPermits(3)
  const semaphore = semaphoreOf(client)
  await semaphore.acquire(2)
  // After this request, the client has no answered requests that it must report to the server.
  await semaphore.inspect()
  await client.close()
  const other = semaphoreOf(rig.client({ outageMs: 2_000 }))
  await fill()
  await other.release(2)
  expect(await other.releaseIfExists()).toBe(true)
  expect(await other.availablePermits()).toBe(4)
})

test('`using()` returns its permits to a server that became full', async () => {
  const client = await withPermits(1)
  const errors: Error[] = []
  client.on('error', (error) => errors.push(error))
  await semaphoreOf(client).using(fill)
  expect(errors).toEqual([])
  expect(await rig.server.admin.get('it')).toBe('1')
})

test.each<[string, (client: Holdfast) => Promise<unknown>, RegExp]>([
  [
    'release',
    (client) => semaphoreOf(client).release(2),
    /: 2 permits were not released; the client retries/,
  ],
  ['trySetPermits', (client) => semaphoreOf(client).trySetPermits(2), /: 2 permits were not set: /],
  ['addPermits', (client) => semaphoreOf(client).addPermits(1), /: 1 permit was not added: /],
  [
    'setPermits',
    (client) => client.getPermitExpirableSemaphore('it').setPermits(1),
    /: the number of its permits was not changed: /,
  ],
])(
  'the error of a request that the server refused does not say that it possibly happened: %s',
  async (_, call, words) => {
    const outageMs = atLoad(1_000)
    const client = rig.client({ outageMs, commandTimeoutMs: outageMs })
    // For a while, the server accepts no writes.
    atEnd(() => rig.server.admin.config('SET', 'min-replicas-to-write', '0'), { beforeCheck: true })
    await rig.server.admin.config('SET', 'min-replicas-to-write', '1')
    // On a busy machine, the last attempt of a call may get no answer, so the call is repeated. A wrong error text
    // would be wrong each time.
    await eventuallyPasses(
      async () => {
        const error = await refusal(() => call(client))
        expect(error.code).toBe('HOLDFAST_REFUSED')
        expect(error.message).toMatch(words)
        expect(error.message).not.toContain('possibly')
      },
      { timeoutMs: 30_000 },
    )
    await rig.server.admin.config('SET', 'min-replicas-to-write', '0')
  },
)

test('a release that is refused forever is not retried', async () => {
  await rig.server.admin.hset('it', 'field', 1)
  const client = rig.client()
  const error = await errorOf(semaphoreOf(client).release())
  expect(error.message).toMatch(/: 1 permit was not released: a hash that Holdfast does not know/)
  expect(error.message).not.toContain('in the background')
  await rig.server.admin.del('it')
  await client.close()
  expect(await rig.exists('it')).toBe(false)
})
