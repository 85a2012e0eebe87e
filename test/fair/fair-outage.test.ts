import { setTimeout as pause } from 'node:timers/promises'
import { eventually, never } from '../support/eventually.ts'
import { Diary, faultRig, granted, outcome, SHA, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { refusal } from '../support/refusal.ts'
import { takes } from '../support/takes.ts'
import { warm } from '../support/warm.ts'

/** Connections that break, fall silent, or lead to a server that has lost all data. */
const rig = faultRig()

const UNAVAILABLE = { code: 'HOLDFAST_UNAVAILABLE' }
const CLAIM_MS = 1_500
/** The extra time of a busy machine, in milliseconds. */
const NOISE_MS = 1_000

/** Waits until this number of clients has just sent a heartbeat for its places. */
const keptAlive = (name: string, clients: number) =>
  eventually(async () => {
    const marks = await rig.server.admin.hvals(`holdfast_waiting:{${name}}`)
    const fresh = marks.filter((mark) => Number.parseInt(mark, 10) > Date.now() + 2_000)
    return fresh.length === clients
  })

/** Returns the holder, a first waiter behind the proxy, and a second waiter that is a witness. */
async function scene(client = rig.client()) {
  const held = await rig.witness().getFairLock('it').lock()
  const first = client.getFairLock('it').lock()
  await rig.queued('it', 1)
  await rig.hears(client)
  const second = rig.witness().getFairLock('it').lock()
  await rig.queued('it', 2)
  return { client, held, first, second }
}

describe('the connection for messages', () => {
  test('the waiter is served after the connection is cut before the grant', async () => {
    const { held, first, second } = await scene()
    rig.proxy.cut('subscriber')
    await held.release()
    // The server may have treated the first waiter as gone and queued it again behind the second waiter.
    const both = Promise.all([first, second].map(async (one) => (await one).release()))
    expect(await within(CLAIM_MS + NOISE_MS, both)).toEqual([true, true])
  })

  test('the waiter checks, and is served in turn, when the connection is cut with the message on its way', async () => {
    const { held, first, second } = await scene()
    rig.proxy.delay(1_000, { only: 'subscriber', direction: 'toClient' })
    await held.release()
    rig.proxy.cut('subscriber')
    const lease = await within(NOISE_MS, first)
    expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
    await lease.release()
    await (await within(NOISE_MS, second)).release()
  })

  test('heartbeats deliver the grants when the connection cannot be restored', async () => {
    // With this limit, the client keeps its connection for commands.
    const { held, first, second } = await scene(rig.client({ commandTimeoutMs: 5_000 }))
    // New connections open, but receive no answer, so no connection can subscribe.
    const known = rig.proxy.connections.length
    rig.proxy.blackHole({ only: ({ index }) => index >= known, onHeal: 'drop' })
    rig.proxy.cut('subscriber')
    await held.release()
    const both = Promise.all([first, second].map(async (one) => (await one).release()))
    expect(await within(CLAIM_MS + NOISE_MS, both)).toEqual([true, true])
  })

  test.each(['deliver', 'drop'] as const)(
    'the waiters are served while the connection is a black hole (later: %s)',
    async (onHeal) => {
      const { held, first, second } = await scene(
        rig.client({ commandTimeoutMs: 10_000, leaseMs: 60_000 }),
      )
      const hole = rig.proxy.blackHole({ only: 'subscriber', onHeal })
      await held.release()
      const lease = await within(CLAIM_MS + NOISE_MS, first)
      hole.heal()
      await never(async () => !Object.hasOwn(await rig.hash('it'), lease.owner), 100)
      expect(await lease.release()).toBe(true)
      await (await within(NOISE_MS, second)).release()
    },
  )
})

describe('the connection for commands', () => {
  test('the waiter is served when the connection is cut at the grant', async () => {
    const { held, first, second } = await scene()
    rig.proxy.cut('commands')
    await held.release()
    const lease = await within(CLAIM_MS + NOISE_MS, first)
    await eventually(() => lease.remaining() > CLAIM_MS)
    expect(await lease.release()).toBe(true)
    await (await within(NOISE_MS, second)).release()
  })

  test('the next waiter has the lock after the claim window when the connection is a black hole at the grant', async () => {
    const { client, held, first, second } = await scene()
    const diary = new Diary(client)
    const hole = rig.proxy.blackHole({ only: 'commands', onHeal: 'drop' })
    await held.release()
    const lease = await within(NOISE_MS, first)
    const next = await within(CLAIM_MS + NOISE_MS, second)
    expect(lease.valid).toBe(false)
    expect(diary.lost).toEqual([lease.token])
    expect(await lease.release()).toBe(false)
    hole.heal()
    await never(() => !next.valid, 300)
    expect(await next.release()).toBe(true)
    await eventually(async () => !(await rig.exists('it')))
  })
})

describe('a server that fails', () => {
  test('three clients restore their order after the server loses all keys', async () => {
    const clients = [rig.client(), rig.client(), rig.client()]
    const held = await rig.witness().getFairLock('it').lock()
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
    const places = await rig.queue('it')
    // Another owner holds the lock at once, so that all waiters queue again before the lock is free.
    await rig.server.admin
      .multi()
      .flushall()
      .hset('it', 'somebody:1', '1')
      .pexpire('it', 60_000)
      .exec()
    await rig.queued('it', 3)
    expect(await rig.queue('it')).toEqual(places)
    await rig.witness().getFairLock('it').forceUnlock()
    await within(2 * NOISE_MS, Promise.all(pending))
    expect(order).toEqual([0, 1, 2])
    expect(await held.release()).toBe(false)
  })

  test('all waiters are served after the server loses all keys, which frees the lock', async () => {
    const clients = [rig.client(), rig.client(), rig.client()]
    const held = await rig.witness().getFairLock('it').lock()
    const pending = clients.map((client) => client.getFairLock('it').using((lease) => lease.token))
    await rig.queued('it', 3)
    await rig.server.flush()
    const tokens = await within(CLAIM_MS + NOISE_MS, Promise.all(pending))
    expect(new Set(tokens).size).toBe(3)
    expect(Math.min(...tokens)).toBeGreaterThan(held.token)
    expect(await held.release()).toBe(false)
  })

  test('the waiters are served although the server forgets its scripts', async () => {
    const { held, first, second } = await scene()
    await rig.server.admin.script('FLUSH')
    await rig.proxy.onNextRequest(SHA.heartbeat, 'pass').done
    await rig.server.admin.script('FLUSH')
    await held.release()
    const lease = await within(NOISE_MS, first)
    await rig.server.admin.script('FLUSH')
    expect(await lease.release()).toBe(true)
    await (await within(NOISE_MS, second)).release()
  })

  test('the waiters are served once each after the server restarts empty', async () => {
    const { held, first, second } = await scene(rig.client({ outageMs: 20_000 }))
    await rig.server.restart()
    const released = held.release().catch(() => false)
    const tokens = await within(
      5_000,
      Promise.all(
        [first, second].map(async (one) => {
          const lease = await one
          expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
          await lease.release()
          return lease.token
        }),
      ),
    )
    expect(new Set(tokens).size).toBe(2)
    expect(await released).toBe(false)
  })

  test('the waiters keep their order when the server hangs for longer than a place is kept', async () => {
    const { held, first, second } = await scene(rig.client({ outageMs: 20_000 }))
    rig.server.pause()
    atEnd(() => rig.server.resume(), { beforeCheck: true })
    await pause(3_100) // longer than places are kept, because this is the subject
    rig.server.resume()
    await keptAlive('it', 2)
    expect(await held.release()).toBe(true)
    const served = await within(NOISE_MS, Promise.race([first, second]))
    expect(served).toBe(await within(NOISE_MS, first))
    await served.release()
    await (await within(NOISE_MS, second)).release()
  })
})

describe('an outage', () => {
  const outages = {
    'refused connections': () => {
      rig.proxy.refuse()
      rig.proxy.cut()
    },
    'a black hole': () => void rig.proxy.blackHole({ onHeal: 'drop' }),
    'a server that hangs': () => {
      rig.server.pause()
      atEnd(() => rig.server.resume(), { beforeCheck: true })
    },
  }

  test.each(
    Object.entries(outages).flatMap(([what, strike]) => [
      { what, strike, state: 'that has sent no request yet', waitMs: 400 },
      { what, strike, state: 'that queues', waitMs: 1_800 },
      { what, strike, state: 'that queues', waitMs: 3_000 },
    ]),
  )(
    '($what) a waiter $state gets an error after $waitMs ms, never null',
    async ({ strike, state, waitMs }) => {
      const client = rig.client({ commandTimeoutMs: 500, outageMs: 10_000 })
      await granted(await client.getFairLock('warm').tryLock()).release()
      const held = await rig.witness({ leaseMs: 60_000 }).getFairLock('it').lock()
      const queues = state === 'that queues'
      const limits = { atLeast: waitMs - 50, atMost: waitMs + NOISE_MS }
      const ask = () => takes(limits, () => outcome(client.getFairLock('it').tryLock(waitMs)))
      let trying = queues ? ask() : undefined
      if (queues) await rig.queued('it', 1)
      strike()
      trying ??= ask()
      const { error, value } = await trying
      expect({ value, error }).toMatchObject({ value: undefined, error: UNAVAILABLE })
      rig.server.resume()
      await rig.proxy.heal()
      await rig.queued('it', 0)
      expect(await held.release()).toBe(true)
    },
  )

  test('waiters get an error after `outageMs` while the server refuses to write', async () => {
    const client = rig.client({ commandTimeoutMs: 300, outageMs: 1_500 })
    const held = await rig.witness({ leaseMs: 60_000 }).getFairLock('it').lock()
    const needReplicas = async (replicas: string) => {
      await rig.server.admin.config('SET', 'min-replicas-to-write', replicas)
    }
    atEnd(() => needReplicas('0'), { beforeCheck: true })
    const error = await refusal(async () => {
      const pending = outcome(client.getFairLock('it').lock())
      await rig.queued('it', 1)
      await needReplicas('1')
      const { value, error } = await within(6_000, pending)
      await needReplicas('0')
      // The client deletes its place as soon as the server accepts writes.
      await rig.queued('it', 0)
      if (error === undefined) return value
      throw error
    })
    expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED' })
    expect(String(error)).toContain('NOREPLICAS')
    await held.release()
  })

  test('all waiters get an error when the outage is longer than `outageMs`, and no place stays', async () => {
    const outageMs = 1_500
    const client = rig.client({ commandTimeoutMs: 200, outageMs })
    await warm(client)
    const held = await rig.witness({ leaseMs: 60_000 }).getFairLock('it').lock()
    const lock = client.getFairLock('it')
    const pending = [1, 2, 3, 4].map(() => outcome(lock.lock()))
    await rig.queued('it', 4)
    rig.proxy.refuse()
    rig.proxy.cut()
    const ends = await within(CLAIM_MS + outageMs + 2 * NOISE_MS, Promise.all(pending))
    for (const { error } of ends) expect(error).toMatchObject(UNAVAILABLE)
    await rig.proxy.heal()
    await rig.queued('it', 0)
    await held.release()
    await (await lock.lock()).release()
  })

  test('all waiters are served in order when the outage is shorter than `outageMs`', async () => {
    const client = rig.client({ commandTimeoutMs: 200, outageMs: 8_000 })
    const held = await rig.witness({ leaseMs: 60_000 }).getFairLock('it').lock()
    const order: number[] = []
    const pending: Promise<void>[] = []
    for (let i = 0; i < 4; i++) {
      const turn = client.getFairLock('it').using(() => {
        order.push(i)
      })
      pending.push(turn)
      await rig.queued('it', i + 1)
    }
    rig.proxy.refuse()
    rig.proxy.cut()
    await pause(2_200)
    await rig.proxy.heal()
    await keptAlive('it', 1)
    await rig.queued('it', 4)
    await held.release()
    await within(CLAIM_MS + 2 * NOISE_MS, Promise.all(pending))
    expect(order).toEqual([0, 1, 2, 3])
  })
})
