import type { Holdfast, HoldfastEvents } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually } from '../support/eventually.ts'
import { describeLocks } from './lock-kinds.ts'

const NAMES: (keyof HoldfastEvents)[] = ['acquired', 'released', 'wait', 'late', 'lost', 'error']

/**
 * Records the events of the client, in order. Leaves out errors of a dead master. Leaves out renewals too, unless
 * `more` names them, because a master that has just connected may confirm a lease.
 */
function record(client: Holdfast, ...more: 'renewed'[]): [name: string, event: unknown][] {
  const events: [string, unknown][] = []
  for (const name of [...NAMES, ...more]) {
    client.on(name, (event: unknown) => {
      const { cause } = event as { cause?: { code?: string } }
      if (cause?.code !== 'ECONNREFUSED') events.push([name, event])
    })
  }
  return events
}

describeLocks('the events', (stage) => {
  test('the acquired and the released events have the name, the owner and the token', async () => {
    const client = stage.world.newClient()
    const events = record(client)
    const lease = await stage.getLock(client, 'it').lock()
    const hold = { name: 'it', owner: lease.owner, token: lease.token }
    expect(events).toEqual([['acquired', { ...hold, waitedMs: expect.any(Number) }]])
    await lease.release()
    expect(events.slice(1)).toEqual([['released', hold]])
  })

  test('re-entries emit no events', async () => {
    const client = stage.world.newClient()
    const lock = stage.getLock(client, 'it')
    const events = record(client)
    await lock.using(() => lock.using(() => lock.using(() => {})))
    expect(events.map(([name]) => name)).toEqual(['acquired', 'released'])
  })

  stage.testOfExclusion(
    'an acquisition that waits emits one wait event, and the acquired event says how long it waited',
    async () => {
      const [one, two] = [stage.world.newClient(), stage.world.newClient()]
      const events = record(two)
      const lease = await stage.getLock(one, 'it').lock()
      const began = performance.now()
      const waiting = stage.getLock(two, 'it').lock()
      await eventually(() => events.length > 0)
      const start = performance.now()
      await eventually(() => performance.now() - start > 60)
      await lease.release()
      const next = await waiting
      const callMs = performance.now() - began
      await next.release()
      expect(events.map(([name]) => name)).toEqual(['wait', 'acquired', 'released'])
      expect(events[0]?.[1]).toEqual({ name: 'it' })
      const [, { waitedMs }] = events[1] as [string, { waitedMs: number }]
      expect(waitedMs).toBeGreaterThan(55)
      expect(waitedMs).toBeLessThanOrEqual(callMs + 1)
    },
  )

  stage.testOfExclusion('tryLock() without a wait emits no wait event', async () => {
    const [one, two] = [stage.world.newClient(), stage.world.newClient()]
    const events = record(two)
    const lease = await stage.getLock(one, 'it').lock()
    expect(await stage.getLock(two, 'it').tryLock()).toBeNull()
    expect(events).toEqual([])
    await lease.release()
  })

  stage.testOfExclusion('a listener of the wait event can abort that wait', async () => {
    const client = stage.world.newClient()
    const lease = await stage.getLock(client, 'it').lock()
    const abort = new AbortController()
    client.once('wait', () => abort.abort(new Error('not that long')))
    const waiting = stage.getLock(client, 'it').lock({ signal: abort.signal })
    await expect(waiting).rejects.toThrow('not that long')
    await lease.release()
    const next = await stage.getLock(client, 'it').tryLock(3_000)
    expect(next?.valid).toBe(true)
    await next?.release()
  })

  stage.testOfExclusion('a listener of the acquired event can release that hold', async () => {
    const [one, two] = [stage.world.newClient(), stage.world.newClient()]
    const busy = await stage.getLock(one, 'it').lock()
    const lock = stage.getLock(two, 'it', { owner: two.owner() })
    const unlocked = new Promise<void>((resolve, reject) => {
      two.once('acquired', () => void lock.unlock().then(resolve, reject))
    })
    let waits = 0
    two.on('wait', () => {
      waits += 1
    })
    const both = [lock.lock(), lock.lock()]
    await eventually(() => waits === 2)
    await busy.release()
    await unlocked
    const [first, second] = await Promise.all(both)
    expect([first?.valid, second?.valid]).toEqual([false, true])
    await second?.release()
  })

  stage.testOfExclusion(
    'at a hand-off inside a client, the released event comes before the next acquired event',
    async () => {
      const client = stage.world.newClient()
      const events = record(client)
      const lock = stage.getLock(client, 'it')
      const tokens: number[] = []
      const waits = () => events.filter(([name]) => name === 'wait').length
      const work = () =>
        lock.using(async ({ token }) => {
          tokens.push(token)
          if (tokens.length === 1) await eventually(() => waits() === 2)
        })
      await Promise.all([work(), work(), work()])
      const seen = events
        .filter(([name]) => name !== 'wait')
        .map(([name, event]) => [name, (event as { token: number }).token])
      expect(seen).toEqual(
        tokens.flatMap((token) => [
          ['acquired', token],
          ['released', token],
        ]),
      )
      expect(waits()).toBe(2)
    },
  )

  /** In a cluster, each request is for one slot. These names are in the same slot, with or without a prefix. */
  const namesOfOneSlot = ['it 43733', 'it 46041', 'it 52772']

  test('a renewed event has the number of locks in the request', async () => {
    const client = stage.world.newClient({ leaseMs: scaledMs(1_500) })
    const events = record(client, 'renewed')
    const leases = await Promise.all(
      namesOfOneSlot.map((name) => stage.getLock(client, name).lock()),
    )
    // The first lock may be renewed before the last lock is acquired.
    const isOfAll = ([name, event]: [string, unknown]) =>
      name === 'renewed' && (event as { holds: number }).holds === 3
    await eventually(() => events.some(isOfAll))
    for (const lease of leases) await lease.release()
  })

  test('a loss emits one lost event, with the error that is the reason of the signal', async () => {
    const client = stage.world.newClient()
    const events = record(client)
    const lease = await stage.getLock(client, 'it').lock(400)
    await eventually(() => events.length === 2)
    expect(events[1]).toEqual([
      'lost',
      { name: 'it', owner: lease.owner, token: lease.token, error: lease.signal.reason },
    ])
    await lease.release()
    expect(events).toHaveLength(2)
  })

  test('forceUnlock() emits a lost event for the hold that it ends', async () => {
    const client = stage.world.newClient()
    const events = record(client)
    const lock = stage.getLock(client, 'it')
    const lease = await lock.lock()
    await lock.forceUnlock()
    await expect(lock.unlock()).rejects.toBe(lease.signal.reason)
    expect(events.map(([name]) => name)).toEqual(['acquired', 'lost'])
    // The client also asks a master that has just connected about the lease. The answer of this master may come first.
    const reason = stage.world.isQuorum ? /^(forced|gone)$/ : /^forced$/
    expect(events[1]?.[1]).toMatchObject({ error: { reason: expect.stringMatching(reason) } })
  })

  test('close() emits a released event for the hold that it ends', async () => {
    const client = stage.world.newClient()
    const events = record(client)
    const { token } = await stage.getLock(client, 'it').lock()
    await client.close()
    expect(events.map(([name]) => name)).toEqual(['acquired', 'released'])
    expect(events[1]?.[1]).toMatchObject({ name: 'it', token })
  })
})
