// One use of each kind of lock, as in a service. Most names have one user. All services share some names.
import { setTimeout as pause } from 'node:timers/promises'
import { pick } from '../chaos/random.mjs'

const HOT = ['hot:0', 'hot:1', 'hot:2']
const KEPT = ['kept:0', 'kept:1']
const KEEP_MS = 100
const PERMITS = 3
/** Each wait ends, even when all other services are stopped. */
const WAIT_MS = 10_000

/** @returns functions by name. Each function does one operation, and also resolves if it did not acquire the lock */
export function jobsOf(client, { random, label }) {
  let count = 0
  /** Returns a name that is used once. */
  const fresh = (kind) => {
    count += 1
    return `${kind}:${label}:${count}`
  }
  const work = () => pause(random() * 10)
  const options = { waitMs: WAIT_MS }

  return {
    lock: () => client.getLock(fresh('order')).using(work),
    contended: () => client.getLock(pick(random, HOT)).tryUsing(work, options),
    'fixed lease': async () => {
      const lease = await client.getLock(fresh('device')).tryLock({ leaseMs: 1_000 })
      await lease?.extend(2_000)
      await lease?.release()
    },
    're-entry': () =>
      client.run(async () => {
        const lock = client.getLock(fresh('account'))
        await lock.lock()
        await lock.lock()
        await work()
        await lock.unlock()
        await lock.unlock()
      }),
    fair: () => client.getFairLock(`fair:${pick(random, HOT)}`).tryUsing(work, options),
    read: () => client.getReadWriteLock('stock:1').readLock().tryUsing(work, options),
    write: () => client.getReadWriteLock('stock:1').writeLock().tryUsing(work, options),
    upgrade: () =>
      client.run(async () => {
        const stock = client.getReadWriteLock(fresh('stock'))
        const reader = await stock.upgradableLock().lock()
        await stock.writeLock().using(work)
        await reader.release()
      }),
    several: () =>
      client
        .getMultiLock(client.getLock(pick(random, HOT)), client.getLock(fresh('part')))
        .tryUsing(work, options),
    semaphore: async () => {
      const slots = client.getSemaphore('slots')
      await slots.trySetPermits(PERMITS)
      if (await slots.tryAcquire(options)) await slots.release()
    },
    permits: async () => {
      const quota = client.getPermitExpirableSemaphore('quota')
      await quota.trySetPermits(PERMITS)
      const permit = await quota.tryAcquire(options)
      await work()
      await permit?.release()
    },
    latch: async () => {
      count += 1
      // A count that a fault leaves behind stays in Redis. These names are used again, so such counts do not add up.
      const latch = client.getCountDownLatch(`import:${label}:${count % 50}`)
      await latch.trySetCount(2)
      // A server that forgot the count has opened the latch.
      await Promise.all([latch.await(options), latch.countDown(), latch.countDown()])
    },
    barrier: async () => {
      count += 1
      // The server stores the outcomes of a round for 10 minutes, so these names are used again.
      const barrier = client.getCyclicBarrier(`stage:${label}:${count % 50}`)
      const party = () => barrier.await({ parties: 2, ...options })
      await Promise.all([party(), party()])
    },
    kept: () => {
      const lock = client.getLock(pick(random, KEPT), { keepMs: KEEP_MS })
      return lock.tryUsing(work, options)
    },
    'give up': async () => {
      const signal = AbortSignal.timeout(5)
      await client
        .getLock(pick(random, HOT))
        .using(work, { signal })
        .catch((error) => {
          if (error !== signal.reason) throw error
        })
    },
    look: async () => {
      await client.getLock(pick(random, HOT)).inspect()
      client.held()
    },
  }
}
