import { getEventListeners } from 'node:events'
import { Holdfast } from '../../src/index.ts'
import { plainKind } from '../../src/locks/lock/plain-kind.ts'
import { Owner } from '../../src/owner/owner.ts'
import { WaitQueue } from '../../src/waiting/wait-queue.ts'
import type { Waiter } from '../../src/waiting/waiter.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()

function newClient(): Holdfast {
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

const times = <T>(count: number, make: (i: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i))

describe('a signal of many waiters', () => {
  test('has one listener, which ends the waits in the order of their calls', async () => {
    const warnings: Error[] = []
    const hear = (warning: Error) => warnings.push(warning)
    process.on('warning', hear)
    const clients = [newClient(), newClient()]
    const holder = newClient()
    const held = [await holder.getLock('a').lock(), await holder.getLock('b').lock()]
    const abort = new AbortController()
    const { signal } = abort
    const ended: number[] = []
    const waits = times(400, (i) =>
      (clients[i % 2] as Holdfast)
        .getLock(i % 3 === 0 ? 'a' : 'b')
        .lock({ signal })
        .catch((reason: unknown) => {
          ended.push(i)
          return reason
        }),
    )
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    const reason = new Error('enough')
    abort.abort(reason)
    expect(new Set(await Promise.all(waits))).toEqual(new Set([reason]))
    expect(ended).toEqual(times(400, (i) => i))
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    for (const lease of held) await lease.release()
    process.off('warning', hear)
    expect(warnings.map(({ name }) => name)).not.toContain('MaxListenersExceededWarning')
  })

  test('has no listener without waiters, and one listener again with the next waiter', async () => {
    const lock = newClient().getLock('it')
    const abort = new AbortController()
    const { signal } = abort
    const held = await lock.lock({ signal })
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    const [first, second] = [lock.lock({ signal }), lock.lock({ signal })]
    expect(await lock.tryLock({ waitMs: 20, signal })).toBeNull()
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await held.release()
    await (await first).release()
    const lease = await second
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    const last = lock.lock({ signal })
    abort.abort()
    await expect(last).rejects.toBe(signal.reason)
    await lease.release()
  })
})

describe('many waiters of one lock', () => {
  /** Makes a wait queue with waiters. Counts how many waiters the queue examines. */
  function roomOf(count: number, ownerOf: (i: number) => Owner) {
    const room = new WaitQueue()
    let looks = 0
    const waiters = times(count, (i) => {
      const owner = ownerOf(i)
      const request = {
        kind: plainKind,
        get owner() {
          looks += 1
          return owner
        },
      }
      return { request, list: undefined } as unknown as Waiter
    })
    for (const waiter of waiters) {
      room.enter(waiter)
      room.queue(waiter)
    }
    const looked = () => {
      const before = looks
      looks = 0
      return before
    }
    looked()
    return { room, waiters, looked }
  }

  test('are not all checked for each waiter that is served', () => {
    const owners = times(5_000, (i) => new Owner('client', `${i}`))
    const { room, waiters, looked } = roomOf(5_000, (i) => owners[i] as Owner)
    for (const [i, waiter] of waiters.slice(0, 100).entries()) {
      room.remove(waiter)
      expect(room.queuedWith(waiter)).toEqual([])
      expect(room.has(owners[i] as Owner)).toBe(false)
      expect(room.has(owners[i + 1] as Owner)).toBe(true)
    }
    expect(looked()).toBeLessThan(1_000)
  })

  test.each([3, 40, 1_000])('are found by their owner, with %i waiters', (count) => {
    const [one, other] = [new Owner('client', '1'), new Owner('client', '2')]
    const { room, waiters } = roomOf(count, (i) => (i === count - 1 ? other : one))
    const [first, second] = waiters as [Waiter, Waiter]
    expect(room.has(other)).toBe(true)
    room.unqueue(second)
    room.remove(first)
    room.remove(first)
    expect(room.queuedWith(first)).toEqual(waiters.slice(2, -1))
    for (const waiter of waiters.slice(0, -1)) room.remove(waiter)
    expect([room.has(one), room.has(other)]).toEqual([false, true])
    room.remove(waiters.at(-1) as Waiter)
    expect([room.has(other), room.isEmpty]).toEqual([false, true])
  })

  test('with one owner re-enter together when one of them acquires the lock', async () => {
    const client = newClient()
    const held = await client.getLock('it').lock()
    const lock = client.getLock('it', { owner: client.owner() })
    const waits = times(100, () => lock.lock())
    const others = times(20, () => client.getLock('it').lock())
    await held.release()
    const leases = await Promise.all(waits)
    expect(new Set(leases.map(({ token }) => token)).size).toBe(1)
    await eventually(async () => Object.values(await server.admin.hgetall('it'))[0] === '100')
    for (const lease of leases) await lease.release()
    for (const one of others) await (await one).release()
  })
})
