import type { Emit } from '../../src/events.ts'
import type { HoldfastEvents, HoldfastOptions, Lease } from '../../src/index.ts'
import { Backend } from '../../src/local/backend.ts'
import { HolderRequests } from '../../src/local/holder-requests.ts'
import type { LockKind } from '../../src/local/lock-kind.ts'
import { HoldfastLock } from '../../src/locks/lock/holdfast-lock.ts'
import { plainKind } from '../../src/locks/lock/plain-kind.ts'
import { resolveOptions } from '../../src/options/settings.ts'
import { Frames } from '../../src/owner/frames.ts'
import type { Owner } from '../../src/owner/owner.ts'
import { Owners } from '../../src/owner/owners.ts'
import { MemoryConnection } from '../../src/servers/memory/memory-connection.ts'
import { eventually } from '../support/eventually.ts'
import { startMemoryServer } from '../support/memory-server.ts'
import { Readers, readKind, writeKind } from './readers.ts'

/**
 * Tests two kinds of locks that `src/` does not know: several owners can hold the read lock, and the write lock
 * excludes them.
 */
let server: ReturnType<typeof startMemoryServer>
let readers: Readers
let made: { close(): Promise<void> }[]

beforeAll(() => {
  server = startMemoryServer()
})
beforeEach(async () => {
  await server.flush()
  readers = new Readers(server.memory)
  made = []
})
afterEach(() => Promise.all(made.map((client) => client.close())))

function newClient(options: Pick<HoldfastOptions, 'leaseMs'> = {}) {
  const settings = resolveOptions(options as HoldfastOptions, true)
  const there = new MemoryConnection(server.memory, settings.counterTtlMs)
  const owners = new Owners(`client${made.length}`)
  const told: (keyof HoldfastEvents)[] = []
  const emit: Emit = (event, ..._) => void told.push(event)
  const requests = new HolderRequests({ emit, hasListeners: () => false })
  const own = { owners, frames: new Frames(), settings, emit, requests }
  const backend = new Backend(own, { server: there })
  const { registry } = backend
  const lockOf = (kind: LockKind) => (owner?: Owner) =>
    new HoldfastLock('it', 'it', owner, registry, kind)
  const client = {
    owners,
    told,
    registry,
    reader: lockOf(readKind(readers, there)),
    writer: lockOf(writeKind(readers, there)),
    plain: new HoldfastLock('other', 'other', undefined, registry, plainKind),
    async close() {
      await backend.shutDown()
      there.disconnect()
    },
  }
  made.push(client)
  return client
}

const isSettled = (promise: Promise<unknown>) => {
  const seen = { settled: false }
  const settle = () => {
    seen.settled = true
  }
  promise.then(settle, settle)
  return seen
}

describe('a shared kind', () => {
  test('is held by several owners of a client at once, each with its own lease and token', async () => {
    const { reader, told } = newClient()
    const leases = await Promise.all([reader().lock(), reader().lock(), reader().tryLock()])
    const [a, b, c] = leases as Lease[]
    expect(leases.every((lease) => lease?.valid)).toBe(true)
    expect(readers.holds('it')).toEqual({
      [a?.owner ?? '']: 1,
      [b?.owner ?? '']: 1,
      [c?.owner ?? '']: 1,
    })
    expect(new Set(leases.map((lease) => lease?.token)).size).toBe(3)
    expect(told.filter((event) => event === 'acquired')).toHaveLength(3)
    await Promise.all(leases.map((lease) => lease?.release()))
    expect(readers.holds('it')).toEqual({})
  })

  test.each([
    ['first to last', [0, 1, 2]],
    ['last to first', [2, 1, 0]],
    ['the middle one first', [1, 2, 0]],
  ])('is released in any order: %s', async (_, order) => {
    const { reader, registry } = newClient()
    const leases = await Promise.all([0, 1, 2].map(() => reader().lock()))
    let left = leases
    for (const n of order) {
      const lease = leases[n] as Lease
      expect(await lease.release()).toBe(true)
      left = left.filter((one) => one !== lease)
      expect(Object.keys(readers.holds('it')).sort()).toEqual(left.map(({ owner }) => owner).sort())
      expect(left.every(({ valid }) => valid)).toBe(true)
    }
    await eventually(() => registry.find('it') === undefined, {
      message: 'the lock to be forgotten',
    })
  })

  test('counts the acquisitions of each owner', async () => {
    const { reader, owners } = newClient()
    const [one, two] = [owners.next(), owners.next()]
    const first = await reader(one).lock()
    const other = await reader(two).lock()
    const again = await reader(one).lock()
    expect(again.token).toBe(first.token)
    expect(readers.holds('it')).toEqual({ [first.owner]: 2, [other.owner]: 1 })
    await first.release()
    expect(readers.holds('it')).toEqual({ [first.owner]: 1, [other.owner]: 1 })
    expect(again.valid && other.valid).toBe(true)
    await Promise.all([other.release(), again.release()])
    expect(readers.holds('it')).toEqual({})
  })

  test('is renewed in requests for its own kind alone', async () => {
    const { reader, plain } = newClient({ leaseMs: 3_000 })
    const leases = await Promise.all([reader().lock(), reader().lock()])
    const fixed = await reader().lock(60_000)
    const exclusive = await plain.lock()
    const watched = leases.map(({ owner }) => owner)
    const ends = () => watched.map((owner) => readers.of('it')[owner]?.endsAt ?? 0)
    const before = ends()
    await eventually(() => ends().every((at, n) => at > (before[n] ?? 0)), {
      message: 'both to be renewed',
    })
    expect([...leases, exclusive].every(({ valid }) => valid)).toBe(true)
    expect(readers.renewals).toContainEqual(watched)
    expect(readers.renewals.flat()).not.toContain(exclusive.owner)
    await Promise.all([...leases, fixed, exclusive].map((lease) => lease.release()))
  })

  test('extends one hold without the other holds', async () => {
    const { reader } = newClient()
    const [lease, other] = await Promise.all([reader().lock(20_000), reader().lock(20_000)])
    await lease.extend(60_000)
    expect(lease.remaining()).toBeGreaterThan(50_000)
    expect(other.remaining()).toBeLessThanOrEqual(20_000)
    expect(readers.renewals).toEqual([[lease.owner]])
    await Promise.all([lease.release(), other.release()])
  })

  test('loses one hold and keeps the other holds', async () => {
    const { reader, told, registry } = newClient()
    const [lost, kept] = await Promise.all([reader().lock(), reader().lock()])
    readers.remove('it', lost.owner)
    server.memory.checkAgain()
    await eventually(() => lost.signal.aborted, { message: 'the loss to be told' })
    expect(lost.signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'gone' })
    expect(kept.signal.aborted).toBe(false)
    expect(kept.valid).toBe(true)
    expect(told.filter((event) => event === 'lost')).toHaveLength(1)
    expect(await lost.release()).toBe(false)
    expect(await kept.release()).toBe(true)
    await eventually(() => registry.find('it') === undefined, {
      message: 'the lock to be forgotten',
    })
  })

  test('loses only the hold that is forced', async () => {
    const { reader, registry } = newClient()
    const [lost, kept] = await Promise.all([reader().lock(), reader().lock()])
    registry.find('it')?.forced({ owner: lost.owner, token: lost.token })
    expect(lost.signal.reason).toMatchObject({ reason: 'forced' })
    expect(kept.valid).toBe(true)
    await Promise.all([lost.release(), kept.release()])
    await eventually(() => Object.keys(readers.holds('it')).length === 0)
  })

  test('loses no hold when another hold is granted, to the same owner or to another owner', async () => {
    const { reader, owners, told } = newClient()
    const owner = owners.next()
    // No call waits for the answer to another call.
    const leases = await Promise.all([1, 2, 3].map(() => reader(owner).tryLock()))
    expect(leases.every((lease) => lease?.valid)).toBe(true)
    await Promise.all(leases.map((lease) => lease?.release()))
    expect(told).not.toContain('lost')
    expect(readers.holds('it')).toEqual({})
  })

  test('releases a grant whose caller has given up', async () => {
    const { reader, registry } = newClient()
    const staying = await reader().lock()
    const given = new AbortController()
    const acquiring = reader().lock({ signal: given.signal })
    expect(Object.keys(readers.holds('it'))).toHaveLength(2)
    given.abort()
    await expect(acquiring).rejects.toThrow()
    await eventually(() => Object.keys(readers.holds('it')).length === 1)
    expect(staying.valid).toBe(true)
    await staying.release()
    await eventually(() => registry.find('it') === undefined)
  })

  test('`close()` ends every hold', async () => {
    const client = newClient()
    const leases = await Promise.all([1, 2, 3].map(() => client.reader().lock()))
    const waiting = client.writer().lock()
    const rejected = expect(waiting).rejects.toMatchObject({ code: 'HOLDFAST_CLOSED' })
    await client.close()
    await rejected
    expect(leases.map(({ signal }) => signal.reason.code)).toEqual(
      leases.map(() => 'HOLDFAST_CLOSED'),
    )
    expect(readers.holds('it')).toEqual({})
  })

  test('is forgotten after the last hold ends', async () => {
    const { reader, registry } = newClient()
    const [released, lost] = await Promise.all([reader().lock(), reader().lock(1_000)])
    await released.release()
    expect(registry.find('it')?.isIdle).toBe(false)
    await eventually(() => lost.signal.aborted, { message: 'its time to run out' })
    await eventually(() => registry.find('it') === undefined, {
      message: 'the lock to be forgotten',
    })
    await lost.release()
  })
})

describe('an exclusive kind of the same lock', () => {
  test.each(['the same client', 'another client'])(
    'waits until the last shared hold is released, in %s',
    async (where) => {
      const client = newClient()
      const { writer, told } = where === 'the same client' ? client : newClient()
      const leases = await Promise.all([1, 2, 3].map(() => client.reader().lock()))
      const writing = writer().lock()
      const seen = isSettled(writing)
      await eventually(() => told.includes('wait'), { message: 'the writer to wait' })
      for (const lease of leases) {
        expect(seen.settled).toBe(false)
        expect(await writer().tryLock()).toBeNull()
        await lease.release()
      }
      const lease = await writing
      expect(lease.token).toBeGreaterThan(Math.max(...leases.map(({ token }) => token)))
      expect(await client.reader().tryLock()).toBeNull()
      await lease.release()
    },
  )

  test('is granted before shared calls that come later', async () => {
    const { reader, writer } = newClient()
    const first = await reader().lock()
    const order: string[] = []
    const take = async (lock: HoldfastLock, as: string) => {
      const lease = await lock.lock()
      order.push(as)
      await lease.release()
    }
    const all = [take(writer(), 'writer'), take(reader(), 'reader'), take(writer(), 'writer')]
    await first.release()
    await Promise.all(all)
    expect(order).toEqual(['writer', 'reader', 'writer'])
  })

  test('is handed off inside the client, but not to shared waiters', async () => {
    const { reader, writer, told } = newClient()
    const first = await writer().lock()
    const next = writer().lock()
    const last = reader().lock()
    await first.release()
    const second = await next
    expect(second.token).toBeGreaterThan(first.token)
    expect(readers.handOvers).toBe(1)
    expect(await second.release()).toBe(true)
    const shared = await last
    expect(shared.token).toBeGreaterThan(second.token)
    expect(readers.holds('it')).toEqual({ [shared.owner]: 1 })
    expect(readers.handOvers).toBe(1)
    expect(told).not.toContain('lost')
    await shared.release()
  })

  test('does not let `unlock()` of the exclusive kind release a shared hold', async () => {
    const { reader, writer, owners } = newClient()
    const owner = owners.next()
    const lease = await reader(owner).lock()
    await expect(writer(owner).unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
    expect(lease.valid).toBe(true)
    await reader(owner).unlock()
    expect(lease.valid).toBe(false)
    expect(readers.holds('it')).toEqual({})
  })
})
