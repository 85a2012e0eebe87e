import type { Holdfast, HoldfastEvents } from '../../src/index.ts'
import { slotOf } from '../../src/servers/redis/calls/cluster-slot.ts'
import { eventually } from '../support/eventually.ts'
import { describeLocks } from './lock-kinds.ts'

const NAMES: (keyof HoldfastEvents)[] = ['acquired', 'released', 'wait', 'late', 'lost', 'error']

/**
 * Notes the events of the client, in order; not that a dead master of the world is dead, nor, unless
 * asked to, that one which has only just connected confirmed what it was asked about.
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
  test('tell an acquisition and its release, with who, what and which token', async () => {
    const client = stage.world.newClient()
    const events = record(client)
    const lease = await stage.getLock(client, 'it').lock()
    const hold = { name: 'it', owner: lease.owner, token: lease.token }
    expect(events).toEqual([['acquired', { ...hold, waitedMs: expect.any(Number) }]])
    await lease.release()
    expect(events.slice(1)).toEqual([['released', hold]])
  })

  test('do not tell re-entries', async () => {
    const client = stage.world.newClient()
    const lock = stage.getLock(client, 'it')
    const events = record(client)
    await lock.using(() => lock.using(() => lock.using(() => {})))
    expect(events.map(([name]) => name)).toEqual(['acquired', 'released'])
  })

  stage.testOfExclusion(
    'tell each acquisition that has to wait once, and how long it was',
    async () => {
      const [one, two] = [stage.world.newClient(), stage.world.newClient()]
      const events = record(two)
      const lease = await stage.getLock(one, 'it').lock()
      const waiting = stage.getLock(two, 'it').lock()
      await eventually(() => events.length > 0)
      const start = performance.now()
      await eventually(() => performance.now() - start > 60)
      await lease.release()
      const next = await waiting
      await next.release()
      expect(events.map(([name]) => name)).toEqual(['wait', 'acquired', 'released'])
      expect(events[0]?.[1]).toEqual({ name: 'it' })
      const [, { waitedMs }] = events[1] as [string, { waitedMs: number }]
      expect(waitedMs).toBeGreaterThan(55)
      expect(waitedMs).toBeLessThan(10_000)
    },
  )

  stage.testOfExclusion('tell of no wait where nobody waits', async () => {
    const [one, two] = [stage.world.newClient(), stage.world.newClient()]
    const events = record(two)
    const lease = await stage.getLock(one, 'it').lock()
    expect(await stage.getLock(two, 'it').tryLock()).toBeNull()
    expect(events).toEqual([])
    await lease.release()
  })

  stage.testOfExclusion('let a listener abort the wait that it is told of', async () => {
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

  stage.testOfExclusion('let a listener release the hold that it is told of', async () => {
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
    'tell the release before the next acquisition when the lock is handed over',
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

  /** In a cluster a request is for one slot. */
  const namesOfOneSlot = (count: number) => {
    const slot = (name: string) => slotOf(stage.world.rawName(name))
    const names = ['it']
    for (let i = 0; names.length < count; i++) {
      if (slot(`it ${i}`) === slot('it')) names.push(`it ${i}`)
    }
    return names
  }

  test('tell renewals, with the number of locks in each request', async () => {
    const client = stage.world.newClient({ leaseMs: 1_500 })
    const events = record(client, 'renewed')
    const leases = await Promise.all(
      namesOfOneSlot(3).map((name) => stage.getLock(client, name).lock()),
    )
    // The first may be renewed while the last is still on its way.
    const isOfAll = ([name, event]: [string, unknown]) =>
      name === 'renewed' && (event as { holds: number }).holds === 3
    await eventually(() => events.some(isOfAll))
    for (const lease of leases) await lease.release()
  })

  test('tell a loss once, with the error that the signal has', async () => {
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

  test('tell that a hold was taken away by force', async () => {
    const client = stage.world.newClient()
    const events = record(client)
    const lock = stage.getLock(client, 'it')
    const lease = await lock.lock()
    await lock.forceUnlock()
    await expect(lock.unlock()).rejects.toBe(lease.signal.reason)
    expect(events.map(([name]) => name)).toEqual(['acquired', 'lost'])
    // A master that has only just connected is asked about the lease, and may answer first.
    const reason = stage.world.isQuorum ? /^(forced|gone)$/ : /^forced$/
    expect(events[1]?.[1]).toMatchObject({ error: { reason: expect.stringMatching(reason) } })
  })

  test('tell the release of what close() lets go', async () => {
    const client = stage.world.newClient()
    const events = record(client)
    const { token } = await stage.getLock(client, 'it').lock()
    await client.close()
    expect(events.map(([name]) => name)).toEqual(['acquired', 'released'])
    expect(events[1]?.[1]).toMatchObject({ name: 'it', token })
  })
})
