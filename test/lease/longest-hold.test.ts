import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, Lease, LockOptions, MultiLease, Permit } from '../../src/index.ts'
import { behind } from '../../src/kit/handle.ts'
import { LocalLease } from '../../src/local/local-lease.ts'
import { HoldfastLock } from '../../src/locks/lock/holdfast-lock.ts'
import { atLoad } from '../support/at-load.ts'
import { eventually } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import { startMemoryServer } from '../support/memory-server.ts'
import { describeWorlds, quorumWorlds, worlds } from '../support/worlds.ts'

/** The longest time of each hold in these tests, in milliseconds. */
const MAX_HOLD_MS = 3_000
const UNLIMITED: LockOptions = { leaseMs: 2_700, renew: true }
/** So long that a hold ends only because of its limit, and not because this process stands still for some seconds. */
const LONG: LockOptions = { leaseMs: 20_000, renew: true }
const LIMITED: LockOptions = { ...UNLIMITED, maxHoldMs: MAX_HOLD_MS }

/** The time of a request on a busy machine, in milliseconds. */
const WAY_MS = 1_000

type AnyLease = Lease | MultiLease | Permit

/** A way to acquire a hold with `maxHoldMs`. */
interface Way {
  readonly name: string
  /** Missing if the way also works with several masters. */
  readonly ofOneServer?: true
  acquire(client: Holdfast, name: string): Promise<AnyLease>
  /** Returns the remaining time of this hold in Redis, like PTTL. Needed if the key has other holds too. */
  leftMs?(client: Holdfast, name: string, lease: AnyLease): Promise<number>
  /** True if Redis keeps the key until the release, because its owner has another hold. */
  readonly isKept?: true
}

/** Calls `acquire`, and then releases the first acquisition, so that the client hands the lock over. */
async function after<L>(
  client: Holdfast,
  first: Promise<{ release(): Promise<boolean> }>,
  acquire: () => Promise<L>,
): Promise<L> {
  const held = await first
  let waiting = false
  client.once('wait', () => {
    waiting = true
  })
  const acquiring = acquire()
  await eventually(() => waiting, { message: 'it to wait' })
  await held.release()
  return acquiring
}

const ways: readonly Way[] = [
  {
    name: 'a lock that its client passes on, from who has no limit',
    acquire: (client, name) => {
      const lock = client.getLock(name)
      return after(client, lock.lock(UNLIMITED), () => lock.lock(LIMITED))
    },
  },
  {
    name: 're-entered for longer, which is released',
    async acquire(client, name) {
      const lock = client.getLock(name, { owner: client.owner() })
      const lease = await lock.lock(LIMITED)
      const longer = await lock.lock({ leaseMs: 5_000, renew: true, maxHoldMs: 60_000 })
      await longer.release()
      return lease
    },
  },
  {
    name: 're-entered by who has a limit, on a lease that is fixed',
    async acquire(client, name) {
      const lock = client.getLock(name, { owner: client.owner() })
      await lock.lock(1_500)
      return lock.lock(LIMITED)
    },
  },
  {
    name: 'locks of which one was waited for',
    acquire: (client, name) => {
      const other = client.getLock(`${name} too`)
      const all = client.getMultiLock(other, client.getLock(name))
      return after(client, other.lock(UNLIMITED), () => all.lock(LIMITED))
    },
  },
  {
    name: 'a fair lock',
    ofOneServer: true,
    acquire: (client, name) => client.getFairLock(name).lock(LIMITED),
  },
  {
    name: 'a fair lock that was granted in turn',
    ofOneServer: true,
    acquire: (client, name) => {
      const lock = client.getFairLock(name)
      return after(client, lock.lock(), () => lock.lock(LIMITED))
    },
  },
  {
    name: 'a lock to write, beside which its owner reads without a limit',
    ofOneServer: true,
    isKept: true,
    async acquire(client, name) {
      const lock = client.getReadWriteLock(name, { owner: client.owner() })
      const lease = await lock.writeLock().lock(LIMITED)
      await lock.readLock().lock({ leaseMs: 5_000, renew: true })
      return lease
    },
  },
  {
    name: 'a lock to read, beside somebody without a limit',
    ofOneServer: true,
    async acquire(client, name) {
      const lock = client.getReadWriteLock(name).readLock()
      await lock.lock(UNLIMITED)
      return lock.lock(LIMITED)
    },
    async leftMs(client, name, lease) {
      const { holders } = await client.getReadWriteLock(name).inspect()
      const own = holders.find(({ owner }) => owner === (lease as Lease).owner)
      return own?.ttlMs ?? -2
    },
  },
  {
    name: 'permits',
    ofOneServer: true,
    async acquire(client, name) {
      const semaphore = client.getPermitExpirableSemaphore(name)
      await semaphore.setPermits(2)
      return semaphore.acquire({ ...LIMITED, permits: 2 })
    },
    async leftMs(client, name) {
      const { acquired } = await client.getPermitExpirableSemaphore(name).inspect()
      return acquired[0]?.ttlMs ?? -2
    },
  },
]

/** Returns the time at which the client ends the hold at the latest. */
const limitOf = (lease: AnyLease) =>
  Math.min(...('leases' in lease ? lease.leases : [lease]).map((one) => holdOf(one).limitAt))

const holdOf = (lease: Lease | Permit) => (behind(lease, LocalLease) as LocalLease).hold

describeWorlds(
  'a hold with `maxHoldMs`',
  (world) => {
    /** Watches the hold from its acquisition until the hold has ended in Redis. */
    async function watch({ name, acquire, leftMs, isKept }: Way): Promise<void> {
      const client = world.newClient()
      const askedAt = performance.now()
      const lease = await acquire(client, name)
      const endsAt = limitOf(lease)
      expect(endsAt).toBeGreaterThanOrEqual(askedAt + MAX_HOLD_MS)
      expect(endsAt).toBeLessThanOrEqual(performance.now() + MAX_HOLD_MS)
      for (let isOver = false; !isOver; await pause(20)) {
        const lookedAt = performance.now()
        const remainingMs = lease.remaining()
        const left = await (leftMs?.(client, name, lease) ??
          world.server.admin.pttl(world.rawName(name)))
        const now = performance.now()
        if (remainingMs > 0) expect(lookedAt + remainingMs).toBeLessThanOrEqual(endsAt)
        // In Redis, the hold lasts at least as long as its holder relies on it.
        expect(lookedAt + remainingMs).toBeLessThanOrEqual(now + Math.max(left, 0) + 1)
        if (isKept === undefined)
          expect(lookedAt + left).toBeLessThanOrEqual(endsAt + atLoad(WAY_MS))
        isOver = isKept ? remainingMs === 0 : left === -2
      }
      expect(lease.signal.aborted).toBe(true)
      expect(await lease.release()).toBe(false)
    }

    /**
     * Checks that the limit applies neither to other holds nor to the same hold after the limited acquisition was
     * released.
     */
    async function goesNoFurther(): Promise<void> {
      const client = world.newClient()
      const twice = client.getLock('twice', { owner: client.owner() })
      const [fixed, limited] = [await twice.lock(5_000), await twice.lock(LIMITED)]
      await limited.release()
      const renewed = await twice.lock(LONG)
      const passed = client.getLock('passed on')
      const following = await after(client, passed.lock(LIMITED), () => passed.lock(LONG))
      const notRenewed = client.getLock('not renewed')
      const { signal } = await after(client, notRenewed.lock(LIMITED), () => notRenewed.lock(1_800))
      await pause(MAX_HOLD_MS) // Beyond the limit, because this is the subject.
      expect([fixed.valid, renewed.valid, following.valid]).toEqual([true, true, true])
      expect(signal.reason.message).toMatch(/the fixed lease .* was valid for 1\d{3} ms/)
      await expect(renewed.extend(5_000)).resolves.toBeUndefined()
    }

    // All ways run at once, because each of them mostly waits.
    test('ends in Redis after its holder stops relying on it, and soon after `maxHoldMs`', async () => {
      const some = ways.filter(({ ofOneServer }) => !(world.isQuorum && ofOneServer))
      const names = [...some.map(({ name }) => name), 'others']
      const ends = await Promise.allSettled([...some.map(watch), goesNoFurther()])
      const failed = ends.flatMap((end, i) =>
        end.status === 'rejected' ? [`${names[i]}: ${end.reason}`] : [],
      )
      expect(failed).toEqual([])
      leaves({ keys: true, why: 'how many permits there are stays, and who queued for a while' })
    })
  },
  [...worlds.filter(({ name }) => /own client|memory/.test(name)), ...quorumWorlds.slice(0, 1)],
)

test('a lock that was lost while a multi-lock acquired other locks is not renewed again', async () => {
  const client = startMemoryServer().memory.newClient()
  const lock = client.getLock('it')
  const hold = holdOf(await lock.lock())
  hold.loseGone()
  behind(lock, HoldfastLock)?.registry.limit(hold, MAX_HOLD_MS)
  expect(hold.list).toBeUndefined()
  await client.close()
  leaves({ keys: true, why: 'nobody has released it' })
})
