import {
  ClosedError,
  type Holdfast,
  InvalidArgumentError,
  ReleaseRequestedError,
  type ReleaseRequestedEvent,
} from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { describeLocks } from './lock-kinds.ts'

/** Records the requests that a client receives. */
function heardBy(client: Holdfast): ReleaseRequestedEvent[] {
  const events: ReleaseRequestedEvent[] = []
  client.on('releaseRequested', (event) => events.push(event))
  return events
}

describeLocks('a request to release', (stage) => {
  const channels = async () => {
    const { admin } = stage.world.server
    const sharded = (await admin.pubsub('SHARDCHANNELS')) as string[]
    return [...(await stage.channels()), ...sharded]
  }
  /** Resolves when the client listens for requests. */
  const hears = (client: Holdfast) =>
    eventually(async () => (await channels()).includes(`holdfast_requests:${client.id}`), {
      message: 'the subscription of the holder',
    })
  const twoClients = () =>
    [
      stage.world.newClient({ label: 'holder' }),
      stage.world.newClient({ label: 'requester' }),
    ] as const

  test('a request to release emits the event of the holder and aborts its releaseRequested signal; the holder keeps the lock', async () => {
    const [holder, requester] = twoClients()
    const events = heardBy(holder)
    const lease = await stage.getLock(holder, 'it').lock()
    const { releaseRequested } = lease
    await hears(holder)
    expect(releaseRequested.aborted).toBe(false)
    const lock = stage.getLock(requester, 'it')
    expect(await lock.requestRelease({ reason: 'a rolling deployment' })).toBe(1)
    const by = { client: requester.id, label: 'requester' }
    const { name, owner, token } = lease
    expect(events).toEqual([{ name, owner, token, reason: 'a rolling deployment', by }])
    expect(releaseRequested.aborted).toBe(true)
    expect(releaseRequested.reason).toBeInstanceOf(ReleaseRequestedError)
    expect(releaseRequested.reason).toMatchObject({
      code: 'HOLDFAST_RELEASE_REQUESTED',
      lockName: name,
      token,
      reason: 'a rolling deployment',
      by,
    })
    expect([lease.valid, lease.signal.aborted, await lock.isLocked()]).toEqual([true, false, true])
    expect(await lease.release()).toBe(true)
  })

  test('a request reaches a holder that listens only to the signal, or only to the event', async () => {
    const [holder, requester] = twoClients()
    const lease = await stage.getLock(holder, 'it').lock()
    const aborted = new Promise<void>((resolve) => {
      lease.releaseRequested.addEventListener('abort', () => resolve(), { once: true })
    })
    await hears(holder)
    expect(await stage.getLock(requester, 'it').requestRelease()).toBe(1)
    await aborted
    expect(lease.releaseRequested.reason).toMatchObject({ reason: null })
    await lease.release()
    const other = await stage.getLock(holder, 'other').lock()
    // The code adds its listener only after the client has acquired the lock.
    const events = heardBy(holder)
    await hears(holder)
    expect(await stage.getLock(requester, 'other').requestRelease()).toBe(1)
    expect(events).toHaveLength(1)
    // The test reads the signal only after the request, but the signal still reports the request.
    expect(other.releaseRequested.aborted).toBe(true)
    await other.release()
  })

  test('a request reaches no holder if no code listens, and the holder keeps no subscription', async () => {
    const [holder, requester] = twoClients()
    const lease = await stage.getLock(holder, 'it').lock()
    expect(await channels()).toEqual([])
    expect(await stage.getLock(requester, 'it').requestRelease()).toBe(0)
    const events = heardBy(holder)
    await hears(holder)
    holder.off('releaseRequested')
    expect(await stage.getLock(requester, 'it').requestRelease()).toBe(0)
    expect(events).toEqual([])
    await lease.release()
  })

  test('a request returns 0 for a free lock, and for an owner that no longer holds it', async () => {
    const [holder, requester] = twoClients()
    const events = heardBy(holder)
    const lock = stage.getLock(requester, 'it')
    expect(await lock.requestRelease()).toBe(0)
    const { owner, release } = await heldAndReleased(holder)
    await hears(holder)
    expect(await lock.requestRelease({ owner })).toBe(0)
    await release()
    expect(events).toEqual([])
  })

  /** Returns the owner of a hold that has ended. The client then holds another lock. */
  async function heldAndReleased(client: Holdfast) {
    const { owner, release } = await stage
      .getLock(client, 'it')
      .lock()
      .then(async (lease) => {
        await lease.release()
        const other = await stage.getLock(client, 'other').lock()
        return { owner: lease.owner, release: () => other.release() }
      })
    return { owner, release }
  }

  test('a request that names an owner reaches that owner alone', async () => {
    const [holder, requester] = twoClients()
    const events = heardBy(holder)
    const leases = [
      await stage.getLock(holder, 'a').lock(),
      await stage.getLock(holder, 'b').lock(),
    ]
    await hears(holder)
    const owner = leases[1]?.owner ?? ''
    // The request is for lock `a`, but the owner decides: this owner holds lock `b`.
    expect(await stage.getLock(requester, 'a').requestRelease({ owner })).toBe(1)
    expect(events.map(({ name }) => name)).toEqual([leases[1]?.name])
    for (const lease of leases) await lease.release()
  })

  test('a request can come from the client of the holder', async () => {
    const [client] = twoClients()
    const events = heardBy(client)
    const lock = stage.getLock(client, 'it')
    const lease = await lock.lock()
    expect(await lock.requestRelease()).toBe(1)
    expect(events).toMatchObject([{ by: { client: client.id, label: 'holder' } }])
    await lease.release()
  })

  test('each request emits an event, and aborts the signals of all acquisitions of the hold', async () => {
    const [holder, requester] = twoClients()
    const events = heardBy(holder)
    const lock = stage.getLock(holder, 'it', { owner: holder.owner() })
    const leases = [await lock.lock(), await lock.lock()]
    await hears(holder)
    const other = stage.getLock(requester, 'it')
    expect([await other.requestRelease(), await other.requestRelease()]).toEqual([1, 1])
    expect(events).toHaveLength(2)
    const later = await lock.lock()
    for (const lease of [...leases, later]) {
      expect(lease.releaseRequested.aborted).toBe(true)
      await lease.release()
    }
    const next = await lock.lock()
    expect(next.releaseRequested.aborted).toBe(false)
    await next.release()
  })

  stage.testOfExclusion(
    'a request reaches the current holder after a hand-off inside the client',
    async () => {
      const [holder, requester] = twoClients()
      const events = heardBy(holder)
      const lock = stage.getLock(holder, 'it')
      const first = await lock.lock()
      const waits = [lock.lock(), lock.lock()]
      await first.release()
      await (await waits[0])?.release()
      const lease = await waits[1]
      await hears(holder)
      expect(await stage.getLock(requester, 'it').requestRelease()).toBe(1)
      expect(events).toMatchObject([{ token: lease?.token }])
      await lease?.release()
    },
  )

  test('the event shows the label and the reason of a request in one line, and cuts long text', async () => {
    const [holder] = twoClients()
    const requester = stage.world.newClient({ label: 'bad\u001b[2J\nlabel' })
    const events = heardBy(holder)
    const lease = await stage.getLock(holder, 'it').lock()
    await hears(holder)
    const reason = `first\nsecond ${'x'.repeat(10_000)}`
    expect(await stage.getLock(requester, 'it').requestRelease({ reason })).toBe(1)
    const [event] = events as [ReleaseRequestedEvent]
    expect(event.by.label).toBe('bad\\u{1b}[2J\\u{a}label')
    expect(event.reason).toMatch(/^first\\u\{a\}second x+…$/)
    expect(event.reason?.length).toBeLessThan(220)
    await lease.release()
  })

  test('requestRelease() refuses invalid options, and rejects after close()', async () => {
    const [client] = twoClients()
    const lock = stage.getLock(client, 'it')
    for (const options of [
      { reason: 5 },
      { owner: 'no owner' },
      { owner: 5 },
      { why: '' },
      'now',
    ]) {
      await expect(lock.requestRelease(options as never)).rejects.toBeInstanceOf(
        InvalidArgumentError,
      )
    }
    await client.close()
    await expect(lock.requestRelease()).rejects.toBeInstanceOf(ClosedError)
  })

  test('the requester acquires the lock when the holder releases it as requested', async () => {
    const [holder, requester] = twoClients()
    let isDone = false
    const working = stage.getLock(holder, 'it').using(async ({ releaseRequested }) => {
      await eventually(() => releaseRequested.aborted)
      isDone = true
    })
    await hears(holder)
    const lock = stage.getLock(requester, 'it')
    expect(await lock.requestRelease({ reason: 'urgent' })).toBe(1)
    const lease = await lock.lock()
    expect(isDone || stage.isShared).toBe(true)
    await lease.release()
    await working
  })

  test('a client that is closed no longer listens for requests', async () => {
    const [holder, requester] = twoClients()
    heardBy(holder)
    const { owner } = await stage.getLock(holder, 'it').lock()
    await hears(holder)
    await holder.close()
    await eventually(async () => (await channels()).length === 0)
    expect(await stage.getLock(requester, 'it').requestRelease({ owner })).toBe(0)
    await never(async () => (await channels()).some((one) => one.includes(holder.id)), 20)
  })
})
