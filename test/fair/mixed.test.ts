import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, HoldfastLock, Lease } from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { Diary, faultRig, granted, outcome, within } from '../support/fault-rig.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { CLAIM_MS } from '../support/promised-times.ts'
import { takes } from '../support/takes.ts'

/** Owners, fair locks and plain locks of the same name, in one or several clients. */
const rig = faultRig()

/** The longest time that a free lock stays idle beside a waiter: one heartbeat, and delays of the machine. */
const IDLE_MS = 1_000
/** The extra time of a busy machine, in milliseconds. */
const NOISE_MS = 1_000

/** A lease that is shorter than the claim window of longer leases, in milliseconds. */
const SHORT_MS = 500

const release = async (one: Promise<Lease>) => (await one).release()

describe('one owner', () => {
  test('with two pending fair acquisitions is granted the lock once, and re-enters it', async () => {
    const client = rig.client()
    const lock = client.getFairLock('it', { owner: client.owner() })
    const held = await rig.witness().getFairLock('it').lock()
    const both = [lock.lock(), lock.lock()]
    await rig.queued('it', 2)
    const other = rig.witness().getFairLock('it').lock()
    await rig.queued('it', 3)
    await held.release()
    const [first, second] = await within(NOISE_MS, Promise.all(both))
    expect(second?.token).toBe(first?.token)
    expect(await lock.holdCount()).toBe(2)
    await rig.queued('it', 1)
    expect(await first?.release()).toBe(true)
    expect(await lock.holdCount()).toBe(1)
    expect(await second?.release()).toBe(true)
    await within(NOISE_MS, release(other))
  })

  test('holds the lock once for each acquisition that succeeds, when the second is aborted at the grant', async () => {
    const client = rig.client()
    const lock = client.getFairLock('it', { owner: client.owner() })
    const held = await rig.witness().getFairLock('it').lock()
    const leaving = new AbortController()
    const first = lock.lock()
    await rig.queued('it', 1)
    const second = outcome(lock.lock({ signal: leaving.signal }))
    await rig.queued('it', 2)
    client.once('acquired', () => queueMicrotask(() => leaving.abort()))
    await held.release()
    const lease = await within(NOISE_MS, first)
    const end = await second
    if (end.value === undefined) expect(end.error).toBe(leaving.signal.reason)
    await eventually(async () => (await lock.holdCount()) === (end.value ? 2 : 1))
    await end.value?.release()
    expect(await lease.release()).toBe(true)
    expect(await rig.exists('it')).toBe(false)
    expect(await rig.queue('it')).toEqual([])
  })

  test.each([
    { outer: 'fair', inner: 'plain' },
    { outer: 'plain', inner: 'fair' },
  ])('re-enters a $outer hold through a $inner lock object', async ({ outer, inner }) => {
    const client = rig.client()
    const owner = { owner: client.owner() }
    const locks: Record<string, HoldfastLock> = {
      fair: client.getFairLock('it', owner),
      plain: client.getLock('it', owner),
    }
    const first = granted((await locks[outer]?.tryLock()) ?? null)
    const other = client.getFairLock('it').lock()
    await rig.queued('it', 1)
    const second = await within(NOISE_MS, locks[inner]?.lock() as Promise<Lease>)
    expect(second.token).toBe(first.token)
    expect(await locks[inner]?.holdCount()).toBe(2)
    expect(await first.release()).toBe(true)
    expect(second.valid).toBe(true)
    expect(await second.release()).toBe(true)
    const next = await within(IDLE_MS + NOISE_MS, other)
    expect(next.token).toBeGreaterThan(first.token)
    await next.release()
  })

  test.each(['fair', 'plain'])(
    'waits with a fair and a plain lock object, is granted one, and re-enters with the other (%s first)',
    async (kind) => {
      const client = rig.client()
      const owner = { owner: client.owner() }
      const held = await rig.witness().getLock('it').lock()
      const waits = [client.getFairLock('it', owner), client.getLock('it', owner)]
      if (kind === 'plain') waits.reverse()
      const both = waits.map((lock) => lock.lock())
      await rig.queued('it', 1)
      await rig.listening('it')
      await held.release()
      const [first, second] = await within(IDLE_MS + NOISE_MS, Promise.all(both))
      expect(second?.token).toBe(first?.token)
      await first?.release()
      expect(await waits[0]?.holdCount()).toBe(1)
      await second?.release()
      expect(await rig.exists('it')).toBe(false)
      await eventually(async () => (await rig.queue('it')).length === 0)
    },
  )

  test('gets a whole claim window when it waits again with a longer lease', async () => {
    const client = rig.client()
    const owner = { owner: client.owner() }
    const [before, behind] = [rig.witness(), rig.witness()]
    /** Returns the rest of the claim window of the longer lease, in milliseconds; 0 if the machine was too slow. */
    const claimWindow = async (name: string): Promise<number> => {
      const lock = client.getFairLock(name, owner)
      const plain = await rig.witness().getLock(name).lock()
      const short = lock.tryLock(10_000, SHORT_MS)
      await rig.queued(name, 1)
      const next = behind.getFairLock(name).lock()
      await rig.queued(name, 2)
      await plain.release() // does not move the queue, so the first waiter must check
      const lease = await Promise.race([short, next.then(() => null)])
      if (lease === null) {
        await release(next)
        await (await short)?.release()
        return 0
      }
      await lease.release()
      const stays = before.getFairLock(name).lock()
      await rig.queued(name, 1)
      const long = release(lock.lock())
      await rig.queued(name, 2)
      const silent = rig.proxy.blackHole({ only: 'subscriber' })
      await release(next)
      await release(stays)
      const windowMs = await rig.server.admin.pttl(name)
      silent.heal()
      await within(2_500, long)
      // A longer time means that the client has already confirmed the grant.
      return windowMs <= CLAIM_MS ? windowMs : 0
    }
    let windowMs = 0
    for (let round = 0; round < 8 && windowMs <= SHORT_MS; round++) {
      windowMs = Math.max(windowMs, await claimWindow(`it ${round}`))
    }
    expect(windowMs).toBeGreaterThan(SHORT_MS)
  })
})

describe('two owners of one client', () => {
  test('exclude each other through fair and plain lock objects', async () => {
    const client = rig.client()
    const locks = [client.getFairLock('it'), client.getLock('it')]
    let inside = 0
    let most = 0
    const work = async (i: number) => {
      for (let n = 0; n < 8; n++) {
        await locks[(i + n) % 2]?.using(async () => {
          inside += 1
          most = Math.max(most, inside)
          await pause(1)
          inside -= 1
        })
      }
    }
    await within(20_000, Promise.all([0, 1, 2, 3].map(work)))
    expect(most).toBe(1)
  })
})

describe('a lock does not stay idle after a release', () => {
  const kinds = ['fair', 'plain'] as const
  type Kind = (typeof kinds)[number]
  const lockOf = (client: Holdfast, kind: Kind) =>
    kind === 'fair' ? client.getFairLock('it') : client.getLock('it')

  /** Waits until Redis knows that the client waits. */
  const waits = (kind: Kind) => (kind === 'fair' ? rig.queued('it', 1) : rig.listening('it'))

  test.each(
    kinds.flatMap((holder) =>
      kinds.flatMap((waiter) =>
        ['the same client', 'another client'].map((where) => ({ holder, waiter, where })),
      ),
    ),
  )('a $waiter waiter of $where follows a $holder holder', async ({ holder, waiter, where }) => {
    const client = rig.client()
    const held = await lockOf(client, holder).lock()
    const same = where === 'the same client'
    const pending = lockOf(same ? client : rig.client(), waiter).lock()
    if (waiter === 'fair' || !same) await waits(waiter)
    await held.release()
    await within(IDLE_MS + NOISE_MS, release(pending))
  })

  test.each([0, 300, 900])(
    'a fair waiter that has queued for %i ms follows a plain holder',
    async (forMs) => {
      const client = rig.client()
      for (let i = 0; i < 6; i++) {
        const held = await rig.witness().getLock('it').lock()
        const pending = client.getFairLock('it').lock()
        await rig.queued('it', 1)
        await pause(forMs)
        await takes({ atMost: IDLE_MS + NOISE_MS }, async () => {
          await held.release()
          await release(pending)
        })
        await pause(60 * i) // so that rounds differ in their time between two heartbeats
      }
    },
  )

  test('a queue of three clients is served in order after `forceUnlock()`', async () => {
    const held = await rig.witness().getFairLock('it').lock()
    const clients = [rig.client(), rig.client(), rig.client()]
    const order: number[] = []
    const pending: Promise<void>[] = []
    for (const [i, client] of clients.entries()) {
      pending.push(
        client.getFairLock('it').using(() => {
          order.push(i)
        }),
      )
      await rig.queued('it', i + 1)
    }
    expect(await rig.witness().getFairLock('it').forceUnlock()).toBe(true)
    await within(IDLE_MS + NOISE_MS, Promise.all(pending))
    expect(order).toEqual([0, 1, 2])
    expect(await held.release()).toBe(false)
  })

  test('twelve waiters of both kinds and several clients get ten turns each', async () => {
    const clients = [rig.client(), rig.client(), rig.witness()]
    let inside = 0
    let turns = 0
    let isHeld = deferred<void>()
    const pauses: Promise<void>[] = []
    const one = async (i: number) => {
      const lock = lockOf(clients[i % 3] as Holdfast, kinds[Math.floor(i / 3) % 2] as Kind)
      for (let n = 0; n < 10; n++) {
        await lock.using(async () => {
          expect(++inside).toBe(1)
          isHeld.resolve()
          turns += 1
          await pause(2)
          inside -= 1
          isHeld = deferred<void>()
          if (turns < 120) pauses.push(within(IDLE_MS + NOISE_MS, isHeld.promise))
        })
      }
    }
    await within(25_000, Promise.all(Array.from({ length: 12 }, (_, i) => one(i))))
    expect(turns).toBe(120)
    await Promise.all(pauses)
  })
})

test('a fair waiter is served although plain waiters of its client use the lock without a pause', async () => {
  const client = rig.client()
  const other = await rig.witness().getLock('it').lock()
  let over = false
  let turns = 0
  const busy = [1, 2, 3].map(async () => {
    while (!over) {
      const lease = await client.getLock('it').lock()
      turns += 1
      await pause(2)
      await lease.release()
    }
  })
  await rig.listening('it')
  await other.release()
  await eventually(() => turns > 20)
  try {
    const waited = await outcome(client.getFairLock('it').tryLock(5_000))
    await waited.value?.release()
    expect(waited.value).toBeTruthy()
  } finally {
    over = true
    await Promise.all(busy)
  }
})

test('a fair lock is handed off to the queued waiters before a plain waiter of the same client', async () => {
  const client = rig.client()
  let waiting = 0
  client.on('wait', () => {
    waiting += 1
  })
  const held = await rig.witness().getFairLock('it').lock()
  const order: string[] = []
  const turn = async (who: string, lock: HoldfastLock) => {
    const lease = await lock.lock()
    order.push(who)
    await lease.release()
  }
  const turns = [turn('first', client.getFairLock('it'))]
  await rig.queued('it', 1)
  turns.push(turn('second', rig.client().getFairLock('it')))
  await rig.queued('it', 2)
  turns.push(turn('plain', client.getLock('it')))
  // The number of listeners does not show this, because waiters in the queue also listen after a while.
  await eventually(() => waiting === 2)
  await held.release()
  await within(IDLE_MS + NOISE_MS, Promise.all(turns))
  expect(order).toEqual(['first', 'second', 'plain'])
})

describe('tryLock() without waiting', () => {
  test('does not overtake the queue when the lock has just become free', async () => {
    const client = rig.witness()
    const silent = rig.client({ commandTimeoutMs: 10_000 })
    const held = await client.getFairLock('it').lock()
    const pending = silent.getFairLock('it').lock()
    await rig.queued('it', 1)
    // Only the request of `tryLock()` grants the lock to the next waiter.
    const hole = rig.proxy.blackHole({ only: 'commands' })
    await rig.server.admin.del('it') // as if the holder's lease had ended
    expect(await client.getFairLock('it').tryLock()).toBeNull()
    const [owner] = Object.keys(await rig.hash('it'))
    expect(owner?.startsWith(`${silent.id}:`)).toBe(true)
    hole.heal()
    await within(NOISE_MS, release(pending))
    expect(await held.release()).toBe(false)
  })

  test('does not overtake a fair waiter of its own client', async () => {
    const client = rig.client()
    const lock = client.getFairLock('it')
    const held = await rig.witness().getFairLock('it').lock()
    const pending = lock.lock()
    await rig.queued('it', 1)
    await rig.server.admin.del('it')
    expect(await lock.tryLock()).toBeNull()
    await within(NOISE_MS, release(pending))
    await held.release()
  })

  test('acquires a free lock without a queue, and leaves no lasting key', async () => {
    const lease = granted(await rig.client().getFairLock('it').tryLock())
    expect(await rig.client().getFairLock('it').tryLock()).toBeNull()
    expect(await rig.queue('it')).toEqual([])
    await lease.release()
    expect(await lastingKeys(rig.server.admin, 'holdfast_*')).toEqual([])
  })
})

describe('listeners', () => {
  test('a listener that aborts its acquisition in `acquired` leaves no lock behind', async () => {
    for (const lock of [rig.client().getLock('plain'), rig.client().getFairLock('fair')]) {
      const client = rig.client()
      const own = lock.name === 'fair' ? client.getFairLock('it') : client.getLock('it')
      const leaving = new AbortController()
      client.on('acquired', () => leaving.abort())
      const { value, error } = await outcome(own.lock({ signal: leaving.signal }))
      if (value === undefined) {
        expect(error).toBe(leaving.signal.reason)
      } else {
        // The lock was acquired before the abort.
        expect(value.valid).toBe(true)
        expect(await value.release()).toBe(true)
      }
      expect(leaving.signal.aborted).toBe(true)
      await eventually(async () => !(await rig.exists('it')))
    }
  })

  test('a listener that closes the client when a wait begins leaves nothing behind', async () => {
    const client = rig.client()
    const diary = new Diary(client)
    const held = await rig.witness().getFairLock('it').lock()
    let closing: Promise<unknown> | undefined
    client.on('wait', () => {
      closing = client.close()
    })
    const { error } = await outcome(client.getFairLock('it').lock())
    expect(error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    await closing
    await eventually(async () => (await rig.queue('it')).length === 0)
    expect(diary.errors).toEqual([])
    await held.release()
    await never(() => rig.exists('it'), 50)
  })
})
