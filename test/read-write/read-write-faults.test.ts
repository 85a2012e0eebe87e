import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, Lease, ReadWriteLock, UpgradableLease } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { Diary, faultRig, granted, outcome, within } from '../support/fault-rig.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import type { ProxyRequest, Trap } from '../support/proxy.ts'
import { type Fault, faults } from '../support/request-faults.ts'
import { acquireRead, acquireWrite, releaseReadWrite, renewReadWrite } from '../support/scripts.ts'

type Side = 'read' | 'upgradable' | 'write'

/** A client behind the proxy, which acts for one owner, and a lock of a client without faults. */
interface Scene {
  readonly name: string
  readonly client: Holdfast
  readonly lock: ReadWriteLock
  readonly theirs: ReadWriteLock
  /** The acquisitions that the client has not released. */
  readonly held: { side: Side; lease: Lease }[]
  pending: Promise<Lease> | undefined
  witnessed: Lease | undefined
}

interface Operation {
  operation: string
  script: { readonly sha1: string }
  leaseMs?: number
  prepare: (scene: Scene) => Promise<void>
  /** Runs the operation with the fault. The result must be the same as without a fault. */
  act: (scene: Scene, trap: Trap) => Promise<void>
}

const rig = faultRig()
const SIDES = ['read', 'upgradable', 'write'] as const

const sideOf = (lock: ReadWriteLock, side: Side) =>
  ({ read: lock.readLock(), upgradable: lock.upgradableLock(), write: lock.writeLock() })[side]

const take = async ({ lock, held }: Scene, side: Side) => {
  held.push({ side, lease: granted(await sideOf(lock, side).tryLock()) })
}

const letGo = async ({ held }: Scene) => expect(await held.pop()?.lease.release()).toBe(true)

/** Matches the requests with this script for this lock, because many locks have faults at the same time. */
const requestsOf =
  ({ sha1 }: { readonly sha1: string }, name: string) =>
  ({ args }: ProxyRequest) =>
    args[0] === sha1 && args[2] === name

const acquiring = (side: Side) => (side === 'write' ? acquireWrite : acquireRead)

const operations: Operation[] = [
  ...SIDES.flatMap((side): Operation[] => [
    {
      operation: `acquisition of the ${side} lock`,
      script: acquiring(side),
      prepare: async () => undefined,
      act: (scene) => take(scene, side),
    },
    {
      operation: `acquisition of the ${side} lock after a wait`,
      script: acquiring(side),
      prepare: async (scene) => {
        scene.witnessed = granted(await scene.theirs.writeLock().tryLock())
        const asks = requestsOf(acquiring(side), scene.name)
        const asked = rig.proxy.count(asks)
        scene.pending = sideOf(scene.lock, side).lock()
        // The waiter checks the lock at first, and again after the confirmation of the subscription.
        await eventually(() => rig.proxy.count(asks) >= asked + 2)
      },
      act: async (scene) => {
        await scene.witnessed?.release()
        scene.held.push({ side, lease: await (scene.pending as Promise<Lease>) })
      },
    },
    {
      operation: `re-entry of a holder of the ${side} lock`,
      script: acquiring(side),
      prepare: (scene) => take(scene, side),
      act: (scene) => take(scene, side),
    },
    {
      operation: `nested release by a holder of the ${side} lock`,
      script: releaseReadWrite,
      prepare: async (scene) => {
        for (let i = 0; i < 3; i++) await take(scene, side)
      },
      act: letGo,
    },
    {
      operation: `last release by a holder of the ${side} lock`,
      script: releaseReadWrite,
      prepare: (scene) => take(scene, side),
      act: letGo,
    },
    {
      operation: `renewal for a holder of the ${side} lock`,
      script: renewReadWrite,
      leaseMs: 3_600,
      prepare: (scene) => take(scene, side),
      act: async (scene, trap) => {
        await trap.seen
        await new Promise((resolve) => scene.client.once('renewed', resolve))
        expect(await rig.server.admin.pttl(scene.name)).toBeGreaterThan(700)
      },
    },
  ]),
  {
    operation: 'release of the write lock by an owner that continues to read',
    script: releaseReadWrite,
    prepare: async (scene) => {
      await take(scene, 'write')
      await take(scene, 'read')
      scene.held.reverse()
    },
    act: letGo,
  },
  {
    operation: 'upgrade',
    script: acquireWrite,
    prepare: (scene) => take(scene, 'upgradable'),
    act: upgrade,
  },
  {
    operation: 'upgrade after a wait',
    script: acquireWrite,
    prepare: async (scene) => {
      await take(scene, 'upgradable')
      await waitBehindReader(scene, () => upgradableOf(scene).upgrade())
    },
    act: goOn,
  },
  {
    operation: 'last release by an owner that has upgraded',
    script: releaseReadWrite,
    prepare: async (scene) => {
      await take(scene, 'upgradable')
      await upgrade(scene)
    },
    act: letGo,
  },
  {
    operation: 'acquisition of the write lock after a wait for a reader of its own client',
    script: acquireWrite,
    prepare: async (scene) => {
      const lock = scene.client.getReadWriteLock(scene.name)
      scene.witnessed = await lock.readLock().lock()
      scene.pending = sideOf(scene.lock, 'write').lock()
      await eventually(async () => (await scene.theirs.inspect()).waitingToWrite.length === 1)
    },
    act: goOn,
  },
]

const upgradableOf = ({ held }: Scene) => held[0]?.lease as UpgradableLease

async function upgrade(scene: Scene): Promise<void> {
  scene.held.push({ side: 'write', lease: await upgradableOf(scene).upgrade() })
}

/** The witness releases its lock, so that the waiting call acquires the lock. */
async function goOn(scene: Scene): Promise<void> {
  await scene.witnessed?.release()
  scene.held.push({ side: 'write', lease: await (scene.pending as Promise<Lease>) })
}

async function waitBehindReader(scene: Scene, acquire: () => Promise<Lease>): Promise<void> {
  scene.witnessed = granted(await scene.theirs.readLock().tryLock())
  const asks = requestsOf(acquireWrite, scene.name)
  const asked = rig.proxy.count(asks)
  scene.pending = acquire()
  await eventually(() => rig.proxy.count(asks) >= asked + 2)
}

function sceneOf(name: string, leaseMs = 10_000): Scene {
  const client = rig.client({ leaseMs })
  return {
    name,
    client,
    lock: client.getReadWriteLock(name, { owner: client.owner() }),
    theirs: rig.witness().getReadWriteLock(name),
    held: [],
    pending: undefined,
    witnessed: undefined,
  }
}

/** Returns all keys of the lock, except its counter. */
async function keysOf(name: string): Promise<string[]> {
  const keys = await lastingKeys(rig.server.admin)
  return keys.filter((key) => key.includes(name) && !key.startsWith('redisson_lock_token:')).sort()
}

/** Compares Redis with the holds of the client: hold counts, mode, leases of readers, and no waiters. */
async function checkCounts({ name, held }: Scene): Promise<void> {
  const hash: Record<string, string> = {}
  const keys = held.length > 0 ? [name] : []
  for (const { side, lease } of held) {
    if (side !== 'write' && hash[lease.owner] === undefined) {
      keys.push(`{${name}}:${lease.owner}:rwlock_timeout:1`)
    }
    hash[lease.owner] = String(Number(hash[lease.owner] ?? 0) + 1)
    if (hash.mode !== 'write') hash.mode = side === 'write' ? side : 'read'
    expect(lease.valid).toBe(true)
  }
  expect(await rig.hash(name)).toEqual(hash)
  expect(await keysOf(name)).toEqual(keys.sort())
}

async function checkExclusion({ theirs, held }: Scene): Promise<void> {
  if (held.length === 0) return
  expect(await theirs.writeLock().tryLock()).toBeNull()
  const reading = await theirs.readLock().tryLock()
  expect(reading === null).toBe(held.some(({ side }) => side === 'write'))
  await reading?.release()
}

/** Releases all holds. Then another client acquires the write lock, with a greater token. */
async function releaseAll(scene: Scene): Promise<void> {
  const tokens = scene.held.map(({ lease }) => lease.token)
  for (const { lease } of scene.held.splice(0).reverse()) expect(await lease.release()).toBe(true)
  const lease = await within(8_000, scene.theirs.writeLock().lock())
  if (tokens.length > 0) expect(lease.token).toBeGreaterThan(Math.max(...tokens))
  await lease.release()
}

/** Runs an operation with a fault. Checks that the result is the same as without a fault. */
async function meets(one: Operation, cell: Fault): Promise<void> {
  const scene = sceneOf(`${one.operation}:${cell.fault}`, one.leaseMs)
  const diary = new Diary(scene.client)
  await one.prepare(scene)
  const trap = rig.proxy.onNextRequest(requestsOf(one.script, scene.name), cell.action)

  await within(8_000, one.act(scene, trap))
  await trap.seen
  await checkCounts(scene)
  await checkExclusion(scene)
  if (cell.releases === 'while held') {
    trap.release()
    await trap.done
    // The held request reaches the server before these checks.
    await checkCounts(scene)
    await checkExclusion(scene)
  }

  await releaseAll(scene)
  if (cell.releases === 'when all is released') {
    trap.release()
    await trap.done
  }
  // Before its deadline, a late request may acquire the lock. The client then releases the lock.
  const isLeft = async () => (await keysOf(scene.name)).length > 0
  const staysGone = async () => {
    if (await isLeft()) return false
    await never(isLeft, 60)
    return true
  }
  await eventually(staysGone, { timeoutMs: 3_000 })
  expect(diary.lost).toEqual([])
}

describe.each(operations)('$operation', (one) => {
  test('the operation ends as usual, whichever fault its request meets', async () => {
    const ends = await Promise.all(
      faults.map((cell) =>
        meets(one, cell).then(
          () => [],
          (error: Error) => [`when ${cell.fault}: ${error.message}`],
        ),
      ),
    )
    expect(ends.flat()).toEqual([])
  })
})

describe.each(SIDES)('a holder of the %s lock', (side) => {
  test('the holder learns of the loss after the server restarted empty, and nothing is left behind', async () => {
    const client = rig.client({ leaseMs: 2_400 })
    const diary = new Diary(client)
    const lock = sideOf(client.getReadWriteLock('it', { owner: client.owner() }), side)
    const lease = await lock.lock()
    await lock.lock()
    await rig.server.restart()
    await eventually(() => lease.signal.aborted)
    expect(diary.lost).toEqual([lease.token])
    expect(await lease.release()).toBe(false)
    const next = await within(5_000, rig.witness().getReadWriteLock('it').writeLock().lock())
    expect(next.token).toBeGreaterThan(lease.token)
    await next.release()
    expect(await keysOf('it')).toEqual([])
  })
})

describe.each(SIDES)('a caller that requests the %s lock', (side) => {
  test('an outage is reported as an outage, never as contention, and nothing is left behind', async () => {
    const client = rig.client({ outageMs: 800 })
    const lock = client.getReadWriteLock('it')
    const mine = sideOf(lock, side)
    await (await mine.lock()).release()
    const theirs = await rig.witness().getReadWriteLock('it').writeLock().lock()
    expect(await mine.tryLock()).toBeNull()
    expect(await mine.tryLock(500)).toBeNull()

    rig.proxy.blackHole({ onHeal: 'deliver' })
    const asks = [() => mine.tryLock(), () => mine.tryLock(5_000), () => mine.lock()]
    const asked = await Promise.all(asks.map((ask) => outcome(ask())))
    for (const { error } of asked) expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    await theirs.release()
    await rig.proxy.heal()
    await eventually(async () => (await keysOf('it')).length === 0, { timeoutMs: 8_000 })
    expect(await mine.tryUsing(() => 'done', { waitMs: 5_000 })).toBe('done')
  })
})

test('a write hold whose lease ended in an outage is removed, while its owner continues to read', async () => {
  const client = rig.client({ outageMs: 1_000, leaseMs: 30_000 })
  const sidesOf = (name: string) => client.getReadWriteLock(name, { owner: client.owner() })
  const isReadBesideIt = async (name: string) => {
    const other = rig.witness().getReadWriteLock(name)
    const reading = await within(8_000, other.readLock().lock())
    await reading.release()
    expect((await rig.hash(name)).mode).toBe('read')
  }
  const [first, second] = [sidesOf('first'), sidesOf('second')]
  const reading: Lease[] = [await first.upgradableLock().lock()]
  const writing = await second.writeLock().lock(2_000)
  reading.push(await second.readLock().lock())
  // The server runs the request, but its reply is lost.
  const trap = rig.proxy.onNextRequest(acquireWrite.sha1, 'mute')
  const goesOn = outcome(first.writeLock().lock(2_000))
  await trap.seen
  const hole = rig.proxy.blackHole({ onHeal: 'drop' })
  for (const { error } of [await outcome(writing.release()), await goesOn]) {
    expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
  }
  await pause(5_000)
  hole.heal()
  await Promise.all([isReadBesideIt('first'), isReadBesideIt('second')])
  expect(reading.map(({ valid }) => valid)).toEqual([true, true])
  for (const lease of reading) expect(await lease.release()).toBe(true)
})
