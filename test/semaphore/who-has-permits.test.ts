import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, WaitTimeoutError, WhyNoPermits } from '../../src/index.ts'
import { Holdfast as HoldfastClient } from '../../src/index.ts'
import { printedMs } from '../../src/kit/printable.ts'
import { Clients } from '../../src/local/clients.ts'
import { whyNoPermits } from '../../src/locks/semaphore/why-no-permits.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'
import { errorOf, inBothPlaces } from './both-places.ts'

const leased = (client: Holdfast) => client.getPermitExpirableSemaphore('it')

/**
 * Returns the text of `why()` when it names all clients. The data of a client arrives a moment after its first request.
 */
async function whyOf(client: Holdfast): Promise<WhyNoPermits> {
  let why = await leased(client).why()
  await eventually(async () => {
    why = await leased(client).why()
    return why.holders.every(({ process }) => process !== null)
  })
  return why
}

inBothPlaces(({ client }) => {
  test('`inspect()` lists the holders of permits, with one entry for each acquisition', async () => {
    const [a, b] = [client(), client()]
    await leased(a).setPermits(5)
    const one = await leased(a).acquire({ permits: 2, leaseMs: 20_000 })
    const two = await leased(b).acquire({ leaseMs: 30_000 })
    const { holders, acquired } = await leased(b).inspect()
    expect(holders).toEqual([
      {
        ...{ owner: one.owner, client: a.id, permits: 2, ids: [...one.ids] },
        ...{ ttlMs: expect.any(Number), ageMs: expect.any(Number) },
      },
      {
        ...{ owner: two.owner, client: b.id, permits: 1, ids: [...two.ids] },
        ...{ ttlMs: expect.any(Number), ageMs: expect.any(Number) },
      },
    ])
    expect(holders[0]?.ttlMs).toBeGreaterThan(15_000)
    expect(holders[0]?.ttlMs).toBeLessThanOrEqual(20_000)
    for (const { ageMs } of holders) expect(ageMs).toBeLessThan(15_000)
    expect(acquired.map(({ id }) => id)).toEqual([...one.ids, ...two.ids])
    await one.release()
    expect((await leased(b).inspect()).holders.map(({ owner }) => owner)).toEqual([two.owner])
    await two.release()
    expect((await leased(b).inspect()).holders).toEqual([])
  })

  test('`inspect()` counts all permits of a holder, even if it lists only some', async () => {
    const one = client()
    await leased(one).setPermits(3_000)
    await leased(one).acquire({ permits: 400, leaseMs: 20_000 })
    await leased(one).acquire({ permits: 1_500, leaseMs: 40_000 })
    const { taken, acquired, holders } = await leased(one).inspect()
    expect([taken, acquired.length]).toEqual([1_900, 1_000])
    expect(holders.map(({ permits, ids }) => [permits, ids.length])).toEqual([
      [400, 400],
      [1_500, 600],
    ])
  })

  test('`why()` names the processes that hold permits, for how long, and the waiters', async () => {
    const [a, b, c] = [client({ label: 'worker-A' }), client({ label: 'worker-B' }), client()]
    await leased(a).setPermits(3)
    const one = await leased(a).acquire({ permits: 2 })
    await pause(5) // holders whose leases end in the same millisecond have the order of their ids
    const two = await leased(b).acquire()
    const waiting = errorOf(leased(c).acquire({ permits: 2, waitMs: 20_000 }))
    await eventually(async () => (await leased(c).inspect()).waiting.length === 1)
    const why = await whyOf(a)
    expect(why).toMatchObject({
      ...{ name: 'it', outcome: 'held', permits: 3, available: 0, taken: 3, ttlMs: null },
      ...{ holder: one.owner, queueLength: 1, process: { label: 'worker-A', client: a.id } },
      holders: [
        { owner: one.owner, permits: 2, process: { label: 'worker-A', pid: process.pid } },
        { owner: two.owner, permits: 1, process: { label: 'worker-B', client: b.id } },
      ],
      waiting: [{ client: c.id, permits: 2 }],
    })
    expect(why.text).toMatch(
      /^Semaphore "it": 3 of 3 permits are taken: 2 by this client for \d+ m?s, 1 by worker-B \(another client of this process\) for \d+ m?s\. 1 client waits: the first wants 2 permits and has waited for \d+ m?s\.$/,
    )
    const acquired = expect(waiting).rejects.toThrow('It did not fail')
    await one.release()
    await acquired
  })

  test('`why()` reports free permits', async () => {
    const one = client()
    await leased(one).setPermits(2)
    expect(await leased(one).why()).toMatchObject({
      ...{ outcome: 'free', permits: 2, available: 2, taken: 0, holder: null, holders: [] },
      text: 'Semaphore "it": 0 of 2 permits are taken. No client waits.',
    })
  })

  test('the error at the end of a wait names the holder, and for how long it has held the permits', async () => {
    const [a, b] = [client({ label: 'worker-A' }), client()]
    await leased(a).setPermits(2)
    const permit = await leased(a).acquire({ permits: 2 })
    // The data of a client arrives a moment after its first request.
    await eventually(async () => (await b.clientInfo(a.id)) !== null)
    const error = (await errorOf(leased(b).acquire({ waitMs: 600 }))) as WaitTimeoutError
    expect(error.code).toBe('HOLDFAST_WAIT_TIMEOUT')
    const [, age] =
      /^Semaphore "it": 1 permit not acquired within 600 ms \(waited \d+ ms\)\. 2 of 2 permits are taken: 2 by worker-A \(another client of this process\) for (\d+ m?s)\. Try again later/.exec(
        error.message,
      ) ?? []
    const { ageMs } = error.why as WhyNoPermits
    // The age counts until the end of the wait. The server's clock may be adjusted during the test.
    expect(ageMs).toBeGreaterThanOrEqual(500)
    expect(age).toBe(printedMs(Number(ageMs)))
    expect(error.why).toMatchObject({
      ...{ name: 'it', outcome: 'held', holder: permit.owner },
      ...{ process: { label: 'worker-A' }, taken: 2, available: 0 },
    })
    await permit.release()
  })

  test('the error names this client if it holds the permits itself', async () => {
    const one = client()
    await leased(one).setPermits(1)
    const permit = await leased(one).acquire()
    const error = await errorOf(leased(one).acquire({ waitMs: 500 }))
    expect(error.message).toContain('1 of 1 permit is taken: 1 by this client for ')
    await permit.release()
  })

  test('the error says if permits are free and other callers have waited longer', async () => {
    const [a, b] = [client(), client()]
    await leased(a).setPermits(3)
    const permit = await leased(a).acquire({ permits: 2, leaseMs: 60_000 })
    const first = leased(a).acquire({ permits: 3 })
    await eventually(async () => (await leased(a).inspect()).waiting.length === 1)
    const error = await errorOf(leased(b).acquire({ waitMs: 1_000 }))
    expect(error.message).toMatch(
      /2 of 3 permits are taken: .*\. Other callers have waited for longer\. Try again later/,
    )
    await permit.release()
    await (await first).release()
  })

  test('the holders of a plain semaphore are unknown, and `why()` says so', async () => {
    const [a, b] = [client(), client()]
    const plain = a.getSemaphore('it')
    await plain.trySetPermits(3)
    await plain.acquire(2)
    const error = (await errorOf(
      b.getSemaphore('it').acquire({ permits: 2, waitMs: 600 }),
    )) as WaitTimeoutError
    expect(error.message).toMatch(
      /2 permits not acquired within 600 ms .* 1 permit is available\. The holders of the other permits are unknown, because permits without leases have no owner\. Try again later/,
    )
    expect(error.why).toMatchObject({ outcome: 'held', holder: null, available: 1, taken: null })
    // The call that gave up has removed its place.
    await eventually(async () => (await plain.inspect()).waiting.length === 0)
    const waiting = errorOf(b.getSemaphore('it').acquire({ permits: 2, waitMs: 20_000 }))
    await eventually(async () => (await plain.inspect()).waiting.length === 1)
    expect(await plain.why()).toMatchObject({
      ...{ outcome: 'held', permits: null, available: 1, taken: null, holders: [], queueLength: 1 },
      waiting: [{ client: b.id, permits: 2 }],
      text: expect.stringMatching(/^Semaphore "it": 1 permit is available\. .* 1 client waits: /),
    })
    // The waiting call may acquire the permits before the answer to the release arrives.
    const acquired = expect(waiting).rejects.toThrow('It did not fail')
    await plain.release()
    await acquired
  })
})

describe('clients in other processes', () => {
  const server = sharedServer()
  afterEach(() => {
    jest.restoreAllMocks()
    return server.flush()
  })

  function newClient(label?: string): Holdfast {
    const client = new HoldfastClient({ redis: server.url, ...(label && { label }) })
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }

  const aboutOf = (id: string) => server.admin.hget(`holdfast_client:{${id}}`, 'about')

  /** Makes the client's permits and its data look like those of a client elsewhere. Resolves with the other id. */
  async function asIfElsewhere({ id }: Holdfast): Promise<string> {
    const other = `${id.slice(0, -1)}${id.endsWith('x') ? 'y' : 'x'}`
    const holders = await server.admin.hgetall('holdfast_permit_holders:{it}')
    const permits = await server.admin.zrangeBuffer('{it}:timeout', '0', '-1', 'WITHSCORES')
    for (const [head, entry] of Object.entries(holders)) {
      if (!entry.startsWith(id)) continue
      const moved = entry.replace(id, other)
      const owner = moved.slice(0, moved.indexOf(' '))
      const movedHead = createHash('sha1').update(owner).digest('hex').slice(0, 24)
      await server.admin.hset('holdfast_permit_holders:{it}', movedHead, moved)
      await server.admin.hdel('holdfast_permit_holders:{it}', head)
      for (let i = 0; i < permits.length; i += 2) {
        const [member, endMs] = [permits[i] as Buffer, String(permits[i + 1])]
        if (!member.toString('hex').startsWith(head)) continue
        await server.admin.zrem('{it}:timeout', member)
        const movedMember = Buffer.concat([Buffer.from(movedHead, 'hex'), member.subarray(12)])
        await server.admin.zadd('{it}:timeout', endMs, movedMember)
      }
    }
    const about = await aboutOf(id)
    if (about !== null) {
      const elsewhere = { ...JSON.parse(about), client: other, host: 'far-away', pid: 4711 }
      await server.admin.hset(`holdfast_client:{${other}}`, 'about', JSON.stringify(elsewhere))
    }
    return other
  }

  /** Takes a permit without a note about its holder, like Redisson or a client of the version before. */
  async function takeUnnamed(): Promise<string> {
    const id = Buffer.alloc(16, 7)
    await server.admin.zadd('{it}:timeout', Date.now() + 60_000, id)
    await server.admin.decr('it')
    return id.toString('hex')
  }

  test('a permit of a client that does not identify itself has an entry without an owner', async () => {
    const client = newClient()
    await leased(client).setPermits(3)
    const id = await takeUnnamed()
    const permit = await leased(client).acquire()
    const { holders } = await leased(client).inspect()
    expect(holders).toContainEqual({
      ...{ owner: null, client: null, permits: 1, ids: [id] },
      ...{ ttlMs: expect.any(Number), ageMs: null },
    })
    const { text } = await leased(client).why()
    expect(text).toMatch(
      /2 of 3 permits are taken: 1 by this client for \d+ m?s, 1 by others whose process is unknown\./,
    )
    await permit.release()
  })

  test('processes are named with label, host and process id, and a label cannot forge a line', async () => {
    const [a, b] = [newClient(`worker\n[error]\u202e${'x'.repeat(200)}`), newClient()]
    await leased(a).setPermits(1)
    const permit = await leased(a).acquire()
    await eventually(() => aboutOf(a.id))
    await asIfElsewhere(a)
    const error = await errorOf(leased(b).acquire({ waitMs: 1_200 }))
    for (const text of [error.message, (await leased(b).why()).text]) {
      expect(text).toMatch(
        /1 by worker\\u\{a\}\[error\]\\u\{202e\}x+… \(far-away:4711\) for \d+ m?s/,
      )
      expect(text.length).toBeLessThan(400)
    }
    await permit.release()
  })

  test('the name of an unknown owner cannot control a terminal', async () => {
    const [a, b] = [newClient(), newClient()]
    await leased(a).setPermits(1)
    const permit = await leased(a).acquire()
    const [head = '', entry = ''] = Object.entries(
      await server.admin.hgetall('holdfast_permit_holders:{it}'),
    ).flat()
    const forged = `\x1b[31mevil:1:1 ${entry.split(' ').pop()}`
    await server.admin.hset('holdfast_permit_holders:{it}', head, forged)
    const error = await errorOf(leased(b).acquire({ waitMs: 800 }))
    expect(error.message).toMatch(/1 by \\u\{1b\}\[31mevil:1:1 for \d+ m?s/)
    await permit.release()
  })

  test('a waiter asks once for the facts about other clients, and not with each request', async () => {
    const [a, b] = [newClient(), newClient()]
    await leased(a).setPermits(1)
    const permit = await leased(a).acquire()
    await eventually(() => aboutOf(a.id))
    await asIfElsewhere(a)
    const asks = jest.spyOn(Clients.prototype, 'fetchInfo')
    const error = await errorOf(leased(b).acquire({ waitMs: 2_500 }))
    expect(error.message).toContain('(far-away:4711) for ')
    expect(asks).toHaveBeenCalledTimes(1)
    await permit.release()
  })

  test('a client that reports nothing about itself is asked about once', async () => {
    const quiet = new HoldfastClient({ redis: server.url, presence: false })
    atEnd(() => quiet.close(), { beforeCheck: true })
    const client = newClient()
    await leased(quiet).setPermits(1)
    const permit = await leased(quiet).acquire()
    const elsewhere = await asIfElsewhere(quiet)
    const asks = jest.spyOn(Clients.prototype, 'fetchInfo')
    const error = await errorOf(leased(client).acquire({ waitMs: 2_500 }))
    expect(error.message).toContain(`1 of 1 permit is taken: 1 by ${elsewhere}:`)
    expect(asks).toHaveBeenCalledTimes(1)
    await permit.release()
  })

  test('a client without the right to ask is refused once, and its errors name ids', async () => {
    const keys = ['~it', '~{it}*', '~redisson_*', '~holdfast_permit*', '~holdfast_kind*']
    await server.admin.acl('SETUSER', 'poor', 'on', '>secret', '&*', '+@all', ...keys)
    atEnd(() => server.admin.acl('DELUSER', 'poor'))
    const others = [newClient(), newClient(), newClient()]
    await leased(others[0] as Holdfast).setPermits(3)
    const permits = await Promise.all(others.map((one) => leased(one).acquire()))
    const ids: string[] = []
    for (const other of others) ids.push(await asIfElsewhere(other))
    const poor = new HoldfastClient({
      redis: { host: server.host, port: server.port, username: 'poor', password: 'secret' },
    })
    atEnd(() => poor.close(), { beforeCheck: true })
    const error = await errorOf(leased(poor).acquire({ waitMs: 1_600 }))
    for (const id of ids) expect(error.message).toContain(`1 by ${id}:`)
    const log = (await server.admin.acl('LOG')) as unknown[][]
    const about = ids.map((id) => `holdfast_client:{${id}}`)
    const refused = log.filter((entry) => about.some((key) => entry.includes(key)))
    expect(refused.map(([, count]) => count)).toEqual([1])
    await Promise.all(permits.map((one) => one.release()))
  })
})

test('a long label is cut between its characters, and no escape is cut', () => {
  const textFor = (label: string) => {
    const process = { client: 'a', label, host: 'far-away', pid: 4711, version: '1', startedAt: 0 }
    const holders = [{ owner: 'a:1:1', permits: 1, ageMs: 7 }]
    const sight = { name: 'it', setBy: '', isSet: true, available: 0, taken: 1, holders }
    const find = (owner: string) => (owner === 'a:1:1' ? process : null)
    const known = { clientId: 'b', clients: { find } }
    return whyNoPermits({ ...sight, waiting: null }, known, 0).text
  }
  for (let before = 70; before < 110; before += 1) {
    const emoji = textFor(`${'x'.repeat(before)}${'😀'.repeat(20)}`)
    expect(Buffer.from(emoji).toString()).toBe(emoji)
    const escapes = textFor(`${'x'.repeat(before)}${'\n'.repeat(50)}`)
    expect(escapes).toMatch(/by x+(\\u\{a\})*… \(far-away:4711\) for 7 ms/)
  }
})
