import type { Holdfast } from '../../src/index.ts'
import type { PermitAnswer } from '../../src/servers/permit-pool.ts'
import { RedisServer } from '../../src/servers/redis/redis-server.ts'
import { promised } from '../../src/servers/reply.ts'
import { SEMAPHORE } from '../../src/servers/semaphore-server.ts'
import { eventually } from '../support/eventually.ts'
import { outcome } from '../support/fault-rig.ts'
import { redisKinds, requestsOfKind } from '../support/kinds.ts'
import { atEnd } from '../support/lifetime.ts'
import type { ProxyRequest } from '../support/proxy.ts'
import { acquirePermits, acquireSemaphore, leaveSemaphore } from '../support/scripts.ts'
import { placesIn, queued, semaphoreRig } from './support.ts'

const rig = semaphoreRig()

const kinds = [
  {
    kind: 'without leases',
    of: (client: Holdfast) => client.getSemaphore('it'),
    script: acquireSemaphore,
  },
  {
    kind: 'with leases',
    of: (client: Holdfast) => client.getPermitExpirableSemaphore('it'),
    script: acquirePermits,
  },
]

describe.each(kinds)('permits $kind', ({ of, script }) => {
  test('a waiter that gives up leaves no place, even while another call of its client asks once', async () => {
    const client = rig.client({ commandTimeoutMs: 20_000 })
    const [mine, theirs] = [of(client), of(rig.witness())]
    await theirs.trySetPermits(1)
    const taken = await theirs.tryAcquire()
    const controller = new AbortController()
    const options = { waitMs: 20_000, signal: controller.signal }
    const waiting = outcome<unknown>(mine.tryAcquire(options))
    await queued(rig, 1)
    // A request of a waiting call has the id of its client among the arguments.
    const isSingleAttempt = ({ args }: ProxyRequest) =>
      args[0] === script.sha1 && !args.includes(client.id)
    const trap = rig.proxy.onNextRequest(isSingleAttempt, 'holdReply')
    const asking = outcome<unknown>(mine.tryAcquire())
    await trap.seen
    controller.abort(new Error('enough'))
    expect((await waiting).error).toEqual(new Error('enough'))
    // The place of a dead waiter would stay for six seconds.
    await eventually(async () => (await placesIn(rig)).length === 0, { timeoutMs: 4_000 })
    trap.release()
    expect((await asking).error).toBeUndefined()
    if (typeof taken !== 'boolean') await taken?.release()
  })
})

test('the request to leave is not repeated if the client has a new waiter', async () => {
  await rig.server.admin.set('it', 0)
  await rig.server.admin.script('LOAD', leaveSemaphore.source)
  const server = new RedisServer(rig.proxy.url, 5_000, () => undefined, { kinds: redisKinds })
  atEnd(async () => server.disconnect(), { beforeCheck: true })
  const semaphore = requestsOfKind(server, SEMAPHORE).semaphore('it')
  const attempt = {
    permits: 1,
    leaseMs: 10_000,
    reserve: 0,
    callMs: 5_000,
    waits: true,
    isLast: true,
  }
  const waits = (owner: string) =>
    promised<PermitAnswer>((reply) =>
      semaphore.acquire({ ...attempt, owner, beganAt: performance.now(), waitId: '' }, reply),
    )
  await waits('c:1:1')
  let nobodyWaits = true
  const trap = rig.proxy.onNextRequest(leaveSemaphore.sha1, 'cutAfter')
  semaphore.stopWaiting(() => nobodyWaits)
  await trap.seen
  nobodyWaits = false
  await eventually(async () => (await waits('c:2:1')).kind === 'held')
  await server.quiet()
  expect(await placesIn(rig)).toEqual(['c'])
  nobodyWaits = true
  semaphore.stopWaiting(() => nobodyWaits)
  await server.quiet()
  expect(await placesIn(rig)).toEqual([])
})
