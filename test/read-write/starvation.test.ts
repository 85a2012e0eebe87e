import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, Lease, ReadWriteLock, UpgradableLease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'
import { bothPlaces } from './read-write-places.ts'

const rig = faultRig()
const places = bothPlaces(rig)

type Kind = 'read' | 'upgradable' | 'write' | 'upgrade'
const KINDS: Kind[] = ['read', 'upgradable', 'write', 'upgrade']

/** A waiter that is overtaken more often than this is starved. Only calls that came before it should overtake it. */
const MOST_OVERTAKING = 25

const sideOf = (lock: ReadWriteLock, kind: Kind) =>
  kind === 'read' ? lock.readLock() : kind === 'write' ? lock.writeLock() : lock.upgradableLock()

/** Makes one turn of this kind. Returns all its leases, the last lease first, or no lease if a try failed. */
async function take(lock: ReadWriteLock, kind: Kind, tries: boolean): Promise<Lease[]> {
  const side = sideOf(lock, kind)
  const lease = tries ? await side.tryLock() : await side.lock()
  if (lease === null) return []
  if (kind !== 'upgrade') return [lease]
  const upgradable = lease as UpgradableLease
  const written = tries ? await upgradable.tryUpgrade() : await upgradable.upgrade()
  return written === null ? [upgradable] : [written, upgradable]
}

async function release(leases: readonly Lease[]): Promise<void> {
  for (const lease of leases) await lease.release()
}

interface Scene {
  readonly overtaker: Kind
  /** True if the overtakers try again and again, instead of waiting. */
  readonly tries: boolean
  /** True if the overtakers are in the client of the waiter. */
  readonly isOwn: boolean
}

const scenes: Scene[] = KINDS.flatMap((overtaker) =>
  [false, true].flatMap((tries) => [false, true].map((isOwn) => ({ overtaker, tries, isOwn }))),
)

/** @returns how many turns of the overtakers began while a call of the kind `waiter` waited */
async function overtaken(waiter: Kind, scene: Scene, clients: readonly Holdfast[]) {
  const name = `${waiter}:${Object.values(scene).join(':')}`
  const [own, ...others] = clients.map((client) => client.getReadWriteLock(name))
  if (own === undefined) throw new Error('no client')
  let [turns, isOver, isGranted] = [0, false, false]
  const loop = async (lock: ReadWriteLock, n: number) => {
    await pause(n * 2)
    while (!isOver) {
      const leases = await take(lock, scene.overtaker, scene.tries)
      if (leases.length > 0) turns += 1
      // A caller that tries comes back before the others have released.
      await pause(leases.length > 0 ? 4 + n : 1)
      await release(leases)
    }
  }
  const locks = scene.isOwn ? [own, own, own, own, own] : [...others, ...others]
  const loops = locks.map(loop)
  await eventually(() => turns > 5)
  try {
    const held = waiter === 'upgrade' ? await own.upgradableLock().lock() : undefined
    const before = turns
    const waiting = (held ? held.upgrade() : sideOf(own, waiter).lock()).then((lease) => {
      isGranted = true
      return lease
    })
    await eventually(() => isGranted || turns - before > MOST_OVERTAKING, { timeoutMs: 20_000 })
    const passed = turns - before
    isOver = true
    await release([await waiting, ...(held ? [held] : [])])
    return passed
  } finally {
    isOver = true
    await Promise.all(loops)
  }
}

describe.each(places)('%s', (_, newClient) => {
  test('a waiting reader acquires the lock between two upgrades of one holder', async () => {
    const lock = newClient().getReadWriteLock('it')
    const upgradable = await lock.upgradableLock().lock()
    const writing = await upgradable.upgrade()
    const reading = newClient().getReadWriteLock('it').readLock().lock()
    await eventually(async () => (await lock.inspect()).waitingToRead.length === 1)
    await writing.release()
    // The next upgrade is requested before the reader learns of the release.
    const again = upgradable.upgrade()
    await (await within(5_000, reading)).release()
    await release([await again, upgradable])
  })

  test('a waiting call for the upgradable lock delays no reader and no writer of its client', async () => {
    const [lock, other] = [1, 2].map(() => newClient().getReadWriteLock('it'))
    if (!lock || !other) throw new Error('no lock')
    const upgradable = await other.upgradableLock().lock()
    const waiting = [lock.upgradableLock().lock(), lock.upgradableLock().lock()]
    await eventually(async () => (await other.inspect()).waitingToRead.length === 1)
    await (await within(5_000, lock.readLock().lock())).release()
    // Other clients see the writer as a waiter. In its client, the call that came before is served first.
    const writing = lock.writeLock().lock()
    await eventually(async () => (await other.inspect()).waitingToWrite.length === 1)
    await upgradable.release()
    const first = await within(5_000, waiting[0] as Promise<Lease>)
    await first.release()
    const written = await within(5_000, writing)
    expect(written.token).toBeGreaterThan(first.token)
    await written.release()
    const second = await within(5_000, waiting[1] as Promise<Lease>)
    expect(second.token).toBe(written.token)
    await second.release()
  })

  test.each(KINDS)(
    'a waiter for %s is not starved, whether others wait or try, in its client or in other clients',
    async (waiter) => {
      const clients = [1, 2, 3, 4].map(() => newClient())
      const found = await Promise.all(
        scenes.map(async (scene) => {
          const times = await overtaken(waiter, scene, clients)
          return { ...scene, times }
        }),
      )
      expect(found.filter(({ times }) => times > MOST_OVERTAKING)).toEqual([])
    },
  )
})
