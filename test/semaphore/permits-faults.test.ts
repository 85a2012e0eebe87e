import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, Permit, PermitExpirableSemaphore } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { Diary, faultRig, outcome, within } from '../support/fault-rig.ts'
import { faults } from '../support/request-faults.ts'
import {
  acquirePermits,
  releasePermitIds,
  releasePermits,
  renewPermits,
  setPermits,
} from '../support/scripts.ts'
import { allAreBack, listening, of, taken, withPermits } from './permits.ts'

const rig = faultRig()
const { server } = rig

/** A client behind the proxy, and a client without faults. */
interface Scene {
  readonly client: Holdfast
  readonly mine: PermitExpirableSemaphore
  readonly theirs: PermitExpirableSemaphore
  /** The permits that the client holds by its own account. */
  readonly held: Permit[]
  /** The total number of permits. */
  total: number
}

interface Operation {
  operation: string
  script: { readonly sha1: string }
  leaseMs?: number
  /** The faults of the tests. Missing for all faults. Some operations repeat their request only slowly. */
  faults?: typeof faults
  prepare?: (scene: Scene) => Promise<unknown>
  /** True if the operation takes the permits away from the client. */
  takesAway?: true
  /** Runs the operation with the fault. The result must be the same as without a fault. */
  act: (scene: Scene) => Promise<void>
}

const take = async ({ mine, held }: Scene) => {
  held.push(taken(await mine.tryAcquire({ permits: 2 })))
}

const operations: Operation[] = [
  { operation: 'acquire', script: acquirePermits, act: take },
  {
    operation: 'release',
    script: releasePermits,
    prepare: take,
    act: async ({ held }) => expect(await held.pop()?.release()).toBe(true),
  },
  {
    operation: 'renewal',
    script: renewPermits,
    leaseMs: 4_500,
    faults: faults.filter(({ action }) => ['cutAfter', 'duplicate'].includes(action)),
    prepare: take,
    act: async ({ client, held }) => {
      await new Promise((resolve) => client.once('renewed', resolve))
      expect(held[0]?.remaining()).toBeGreaterThan(500)
    },
  },
  {
    operation: 'addition',
    script: setPermits,
    act: async (scene) => {
      await scene.mine.addPermits(3)
      scene.total += 3
    },
  },
  {
    operation: 'drain',
    script: setPermits,
    prepare: take,
    act: async (scene) => {
      expect(await scene.mine.drainPermits()).toBe(scene.total - 2)
      scene.total = 2
    },
  },
]

const withLimit = (client: Holdfast, permits: number) =>
  client.getPermitExpirableSemaphore('it', { permits })

operations.push(
  {
    operation: 'acquisition that sets the number',
    script: acquirePermits,
    prepare: ({ theirs }) => theirs.delete(),
    act: async ({ client, held }) => {
      held.push(taken(await withLimit(client, 5).tryAcquire({ permits: 2 })))
    },
  },
  {
    operation: 'acquisition that waits and sets the number',
    script: acquirePermits,
    prepare: ({ theirs }) => theirs.delete(),
    act: async ({ client, held }) => {
      held.push(await withLimit(client, 5).acquire({ permits: 2 }))
    },
  },
  {
    operation: 'release by ids',
    script: releasePermitIds,
    takesAway: true,
    prepare: take,
    act: async ({ mine, held }) => {
      const permit = held.pop() as Permit
      expect(await mine.release(permit.ids)).toBe(true)
      expect(permit.signal.aborted).toBe(true)
      expect(await permit.release()).toBe(false)
    },
  },
  {
    operation: 'deletion',
    script: setPermits,
    takesAway: true,
    prepare: take,
    act: async (scene) => {
      const permit = scene.held.pop() as Permit
      expect(await scene.mine.delete()).toBe(true)
      expect(permit.signal.aborted).toBe(true)
      // The earlier request to delete must not delete the permits that are set now.
      await scene.theirs.setPermits(7)
      scene.total = 7
      expect(await permit.release()).toBe(false)
    },
  },
)

/** Compares Redis with the permits that the client holds. */
async function check({ theirs, held, total }: Scene): Promise<void> {
  const facts = await theirs.inspect()
  expect(facts).toMatchObject({ permits: total, waiting: [] })
  const ids = held.flatMap((permit) => permit.ids)
  expect(facts.acquired.map(({ id }) => id).sort()).toEqual([...ids].sort())
  const owners = held.map(({ owner }) => owner).sort()
  expect(facts.holders.map(({ owner }) => owner).sort()).toEqual(owners)
  for (const permit of held) expect(permit.valid).toBe(true)
}

describe.each(operations)('$operation', ({ script, prepare, act, leaseMs = 10_000, ...each }) => {
  test.each(each.faults ?? faults)('the operation ends as usual when $fault', async (cell) => {
    const client = rig.client({ leaseMs })
    const theirs = await withPermits(rig.witness(), 5)
    const scene: Scene = { client, mine: of(client), theirs, held: [], total: 5 }
    const diary = new Diary(client)
    await prepare?.(scene)
    const trap = rig.proxy.onNextRequest(script.sha1, cell.action)
    await within(3_500, act(scene))
    await trap.seen
    await check(scene)
    if (cell.releases === 'while held') {
      trap.release()
      await trap.done
      await check(scene)
    }
    for (const permit of scene.held.splice(0)) expect(await permit.release()).toBe(true)
    if (cell.releases === 'when all is released') {
      trap.release()
      await trap.done
    }
    // After a reconnect, the client checks its leases, and this check may report the loss.
    expect(diary.lost.length).toBe(each.takesAway ? 1 : 0)
    await allAreBack(server, scene.total)
  })
})

test.each(faults)('a waiter gets its permits once when $fault', async ({ action, releases }) => {
  const client = rig.client()
  const theirs = await withPermits(rig.witness(), 2)
  const busy = await theirs.acquire()
  const asked = () => rig.proxy.count(acquirePermits.sha1)
  const acquiring = of(client).acquire({ permits: 2 })
  await listening(server, 1)
  // The waiter checks the permits at first, and again after the confirmation of the subscription.
  await eventually(() => asked() >= 2)
  const trap = rig.proxy.onNextRequest(acquirePermits.sha1, action)
  await busy.release()
  const permit = await within(4_000, acquiring)
  await trap.seen
  expect(await theirs.inspect()).toMatchObject({ available: 0, taken: 2 })
  expect(await permit.release()).toBe(true)
  if (releases !== undefined) trap.release()
  await allAreBack(server, 2)
})

test('a first request that arrives after its repeat does not set the number again', async () => {
  const semaphore = await withPermits(rig.client({ commandTimeoutMs: 10_000 }), 1)
  const trap = rig.proxy.onNextRequest(setPermits.sha1, 'cutBefore')
  const changed = semaphore.setPermits(10)
  const delayed = await trap.seen
  await within(10_000, changed)
  await semaphore.setPermits(3)
  expect(await rig.proxy.replay(delayed)).toContain('done')
  await allAreBack(server, 3)
})

test('a grant that arrives at the time of an abort is given back', async () => {
  const client = rig.client()
  const semaphore = await withPermits(client, 3)
  const diary = new Diary(client)
  for (const action of ['holdReply', 'hold'] as const) {
    const abort = new AbortController()
    const trap = rig.proxy.onNextRequest(acquirePermits.sha1, action)
    const acquiring = semaphore.acquire({ permits: 2, signal: abort.signal })
    await trap.seen
    if (action === 'holdReply') await eventually(async () => (await server.admin.get('it')) === '1')
    trap.release()
    abort.abort('enough')
    await expect(acquiring).rejects.toBe('enough')
    await trap.done
    await eventually(async () => (await server.admin.exists('{it}:timeout')) === 0)
  }
  expect(diary.acquired).toEqual([])
  await allAreBack(server, 3)
})

test('an outage is reported as an outage, never as contention, and leaves no permit taken', async () => {
  const client = rig.client({ outageMs: 1_000 })
  const mine = of(client)
  const theirs = await withPermits(rig.witness(), 2)
  await (await mine.acquire()).release()
  const permit = await theirs.acquire({ permits: 2 })
  expect(await mine.tryAcquire()).toBeNull()
  rig.proxy.blackHole({ onHeal: 'deliver' })
  const asks = [
    () => mine.tryAcquire(),
    () => mine.tryAcquire({ waitMs: 5_000 }),
    () => mine.acquire(),
    () => mine.addPermits(1),
    () => mine.availablePermits(),
  ]
  const asked = await Promise.all(asks.map((ask) => outcome<unknown>(ask())))
  for (const { error } of asked) expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
  await permit.release()
  // After this time, the last request is past its deadline, even by a clock that differs a little.
  await pause(400)
  await rig.proxy.heal()
  await (await within(4_000, mine.acquire())).release()
  await allAreBack(server, 2)
})

test('permits are lost when the server has restarted empty, and their signal aborts', async () => {
  const client = rig.client({ leaseMs: 2_400 })
  const semaphore = await withPermits(client, 2)
  const permit = await semaphore.acquire({ permits: 2 })
  await server.restart()
  await eventually(() => permit.signal.aborted)
  expect(await permit.release()).toBe(false)
  await never(async () => (await server.admin.exists('it')) === 1, 50)
  expect(await semaphore.inspect()).toMatchObject({ permits: null })
})
