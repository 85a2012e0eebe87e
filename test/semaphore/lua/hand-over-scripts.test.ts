import * as plain from '../../../src/servers/redis/scripts/semaphore.generated.ts'
import {
  type Arguments,
  admin,
  COUNTER_MS,
  messagesOf,
  NEVER,
  notAfter,
  run,
  type Script,
  state,
} from '../../lua/run-script.ts'
import { leaves } from '../../support/leaks.ts'
import * as scripts from '../../support/scripts.ts'

const NUMBER = 'it'
const QUEUE = 'holdfast_queue:{it}'
const ALIVE = 'holdfast_alive:{it}'
const CHANNEL = 'redisson_sc:{it}'
const TICKETS = 'holdfast_tickets:{it}'

const requestOf = (id: string) => `holdfast_request:{it}:${id}`

beforeEach(() => leaves({ keys: true, why: 'what the scripts make is looked at' }))

type Answer = [string, ...unknown[]]

/** The functions of both kinds, with the same names. The client of an owner is the part before the first colon. */
interface Kind {
  /** Acquires permits; waits if a `client` is given. */
  acquire(owner: string, given?: Arguments): Promise<Answer>
  release(owner: string): Promise<unknown>
  /** The owner `from` releases its permits, and the waiter `to` of its client acquires permits. */
  handOver(from: string, to: string, given?: Arguments): Promise<Answer>
}

const COMMON = {
  ...{ notAfterUs: NEVER, channel: CHANNEL, publish: 'PUBLISH', tickets: TICKETS },
  ...{ last: 1, since: '', waitedMs: 0, behindPermits: 0, behindWaitedMs: 0 },
}
const clientOf = (owner: string) => owner.split(':')[0] as string
const permitsOf = (owner: string) => Number(/\d+$/.exec(owner)?.[0])

const onPlain = (script: Script, given: Arguments, request: string, taking?: string) => {
  const keys = script.keys.filter((name) => name !== 'answered')
  const others = { semaphore: NUMBER, queue: QUEUE, alive: ALIVE, request: requestOf(request) }
  const given2 = { ...COMMON, waitingMs: 3_000, keptMs: 60_000, ...given }
  return run({ ...script, keys }, given2, { ...others, taking: requestOf(taking ?? '') })
}

const semaphore: Kind = {
  acquire: (owner, given = {}) =>
    onPlain(plain.acquire.script, { owner, client: '', ...given }, owner) as Promise<Answer>,
  release: (owner) =>
    onPlain(
      plain.release.script,
      { permits: permitsOf(owner), ifExists: '' },
      `release of ${owner}`,
    ),
  handOver: (from, to, given = {}) =>
    onPlain(
      plain.handOver.script,
      { permits: permitsOf(from), ifExists: '', owner: to, client: clientOf(to), ...given },
      `release of ${from}`,
      to,
    ) as Promise<Answer>,
}

const leased = { ...COMMON, leaseMs: 10_000, counterMs: COUNTER_MS, aliveMs: 3_000 }

const permits: Kind = {
  acquire: (owner, given = {}) =>
    run(scripts.acquirePermits, { ...leased, owner, client: '', ...given }) as Promise<Answer>,
  release: (owner) => run(scripts.releasePermits, { ...leased, owner, client: '' }),
  handOver: (from, to, given = {}) =>
    run(scripts.handOverPermits, {
      ...{ ...leased, from, owner: to, client: clientOf(to) },
      ...given,
    }) as Promise<Answer>,
}

/** The arguments of a waiter that began to wait `ms` ago. */
const ago = (ms: number): Arguments => ({ waitedMs: ms })
const waits = (kind: Kind, owner: string, given: Arguments) =>
  kind.acquire(owner, { client: clientOf(owner), ...given })
const available = async () => Number(await admin.get(NUMBER))
const queue = () => admin.zrange(QUEUE, '0', '-1')
const told = (work: () => Promise<unknown>) => messagesOf(work, TICKETS)
const toldRedisson = (work: () => Promise<unknown>) => messagesOf(work, CHANNEL)

describe.each([
  ['without leases', semaphore],
  ['with leases', permits],
] as const)('the hand-over of permits %s', (_, kind) => {
  beforeEach(() => admin.set(NUMBER, 1))

  test('the first waiter of the client gets the permit, and no message is sent', async () => {
    await kind.acquire('a:1:1')
    await waits(kind, 'a:2:1', ago(500))
    const handOver = async (from: string, to: string) =>
      expect((await kind.handOver(from, to, ago(500))).slice(0, 2)).toEqual(['granted', 1])
    expect(await told(() => handOver('a:1:1', 'a:2:1'))).toEqual([])
    expect(await toldRedisson(() => handOver('a:2:1', 'a:3:1'))).toEqual([])
    expect(await available()).toBe(0)
    expect(await queue()).toEqual([])
  })

  test('a client that waits for longer is woken instead, and gets the permit', async () => {
    await kind.acquire('a:1:1')
    await waits(kind, 'b:1:1', ago(900))
    await waits(kind, 'a:2:1', ago(500))
    const handOver = async () =>
      expect((await kind.handOver('a:1:1', 'a:2:1', ago(500))).slice(0, 2)).toEqual(['held', 1])
    expect(await told(handOver)).toEqual(['b'])
    expect(await available()).toBe(1)
    expect(await queue()).toEqual(['b', 'a'])
    expect((await waits(kind, 'b:1:1', ago(900)))[0]).toBe('granted')
  })

  test.each([
    ['the next client', told, 'b'],
    ['a client of Redisson', toldRedisson, '02'],
  ] as const)(
    '%s is informed about the permits that the waiter does not take',
    async (_who, messages, message) => {
      await admin.set(NUMBER, 3)
      await kind.acquire('a:1:3')
      await waits(kind, 'b:1:1', ago(100))
      await waits(kind, 'a:2:1', ago(500))
      expect(await messages(() => kind.handOver('a:1:3', 'a:2:1', ago(500)))).toEqual([message])
      expect(await available()).toBe(2)
    },
  )

  test('a repeated hand-over releases and acquires once', async () => {
    await kind.acquire('a:1:1')
    await kind.handOver('a:1:1', 'a:2:1')
    const [answer] = await kind.handOver('a:1:1', 'a:2:1')
    expect(answer).toBe('granted')
    expect(await available()).toBe(0)
    await kind.release('a:2:1')
    expect(await available()).toBe(1)
  })

  test('a release after the hand-over, and a hand-over after the release, release nothing more', async () => {
    await admin.set(NUMBER, 2)
    await kind.acquire('a:1:1')
    await kind.handOver('a:1:1', 'a:2:1')
    await kind.release('a:1:1')
    expect(await available()).toBe(1)
    await kind.release('a:2:1')
    expect(await available()).toBe(2)
    // The permit is granted, but the hand-over releases no permit.
    await kind.handOver('a:2:1', 'a:3:1')
    expect(await available()).toBe(1)
  })

  test('a hand-over that comes too late changes nothing', async () => {
    await kind.acquire('a:1:1')
    await waits(kind, 'a:2:1', ago(500))
    const before = await state()
    const late = { notAfterUs: await notAfter(-1_000, 100) }
    expect(await kind.handOver('a:1:1', 'a:2:1', late)).toEqual(['late', expect.any(String)])
    expect(await state()).toEqual(before)
  })

  test('a key of another kind is refused, and nothing changes', async () => {
    await admin.del(NUMBER)
    await admin.hset(NUMBER, 'a', 1)
    const before = await state()
    await expect(kind.handOver('a:1:1', 'a:2:1')).rejects.toThrow(/^WRONGTYPE/)
    expect(await state()).toEqual(before)
  })

  describe('the next waiter of the client', () => {
    const behind = (wanted: number, ms: number) => ({
      ...{ last: '', behindPermits: wanted, behindWaitedMs: ms },
    })

    beforeEach(async () => {
      await admin.set(NUMBER, 2)
      await kind.acquire('x:1:1')
    })

    test('the next waiter gets the place of the client, with its own waiting time', async () => {
      await waits(kind, 'b:1:2', ago(300))
      const [answer] = await waits(kind, 'a:1:1', { ...ago(500), ...behind(2, 100) })
      expect(answer).toBe('granted-and-waits')
      expect(await queue()).toEqual(['b', 'a'])
      expect(await admin.hget(ALIVE, 'a')).toMatch(/^\d+ 2$/)
    })

    test('the answer says that the client is first, or that it is not', async () => {
      const isFirst = (answer: Answer) => (kind === permits ? answer[5] : answer[3])
      const first = await waits(kind, 'a:1:1', { ...ago(500), ...behind(1, 400) })
      expect(isFirst(first)).toBe(1)
      await kind.release('a:1:1')
      await waits(kind, 'b:1:2', ago(300))
      expect(isFirst(await waits(kind, 'a:2:1', { ...ago(400), ...behind(1, 100) }))).toBe(0)
    })

    test('the next waiter must ask at once if permits are available for it', async () => {
      await kind.release('x:1:1')
      const answer = await waits(kind, 'a:1:1', { ...ago(500), ...behind(1, 400) })
      expect(answer[0]).toBe('granted')
      // If the client had a place, clients that began to wait later would be kept out although permits are available.
      expect(await queue()).toEqual([])
    })

    test('the next waiter gets the place in a hand-over, too', async () => {
      await kind.acquire('a:1:1')
      await waits(kind, 'a:2:1', ago(500))
      await waits(kind, 'b:1:1', ago(300))
      const given = { ...ago(500), ...behind(1, 100) }
      const [answer, wasReleased] = await kind.handOver('a:1:1', 'a:2:1', given)
      expect([answer, wasReleased]).toEqual(['granted-and-waits', 1])
      expect(await queue()).toEqual(['b', 'a'])
    })
  })
})

describe('permits without leases', () => {
  test('a waiter that was given up gets no permits from a late hand-over', async () => {
    await admin.set(NUMBER, 0)
    const gone = { client: '', keptMs: 5_000 }
    await onPlain(plain.giveBack.script, gone, 'a:2:1')
    expect((await semaphore.handOver('a:1:1', 'a:2:1')).slice(0, 2)).toEqual(['held', 1])
    expect(await available()).toBe(1)
  })

  test('with `ifExists`, a hand-over does not create a semaphore that is gone', async () => {
    const answer = await semaphore.handOver('a:1:1', 'a:2:1', { ifExists: 1 })
    expect(answer.slice(0, 2)).toEqual(['held', 0])
    expect(await admin.exists(NUMBER)).toBe(0)
    await admin.set(NUMBER, 0)
    expect((await semaphore.handOver('a:1:1', 'a:2:1', { ifExists: 1 })).slice(0, 2)).toEqual([
      'held',
      0,
    ])
    expect(await available()).toBe(0)
  })

  test('a full server accepts the release of a hand-over', async () => {
    await admin.set(NUMBER, 1)
    await semaphore.acquire('a:1:1')
    await admin.config('SET', 'maxmemory', '1')
    try {
      expect((await semaphore.handOver('a:1:1', 'a:2:1'))[1]).toBe(1)
    } finally {
      await admin.config('SET', 'maxmemory', '0')
    }
  })
})

describe('permits with leases', () => {
  test('the new permits have new ids, a higher token, and a note of their owner', async () => {
    await admin.set(NUMBER, 1)
    const [, first] = await permits.acquire('a:1:1')
    const before = await admin.zrangeBuffer('{it}:timeout', '0', '-1')
    const [, , second] = await permits.handOver('a:1:1', 'a:2:1')
    expect(Number(second)).toBeGreaterThan(Number(first))
    expect(await admin.zrangeBuffer('{it}:timeout', '0', '-1')).not.toEqual(before)
    const owners = Object.values(await admin.hgetall('holdfast_permit_holders:{it}'))
    expect(owners).toEqual([expect.stringMatching(/^a:2:1 /)])
  })

  test('permits whose lease has ended are not released again', async () => {
    await admin.set(NUMBER, 1)
    await permits.acquire('a:1:1')
    const [id] = await admin.zrangeBuffer('{it}:timeout', '0', '-1')
    await admin.zadd('{it}:timeout', 'XX', 1, id as Buffer)
    expect((await permits.handOver('a:1:1', 'a:2:1')).slice(0, 2)).toEqual(['granted', 0])
    expect(await available()).toBe(0)
  })

  test('a waiter that wants more permits than exist is refused, and the permit is released', async () => {
    await admin.set(NUMBER, 1)
    await permits.acquire('a:1:1')
    expect(await permits.handOver('a:1:1', 'a:2:2')).toEqual(['too-many', 1, 1, 0])
    expect(await available()).toBe(1)
    expect(await queue()).toEqual([])
  })

  test('a next waiter that wants more permits than exist must ask at once, and blocks no client', async () => {
    await admin.set(NUMBER, 1)
    const given = { last: '', behindPermits: 2, behindWaitedMs: 400 }
    expect((await waits(permits, 'a:1:1', { ...ago(500), ...given }))[0]).toBe('granted')
    expect(await queue()).toEqual([])
  })
})
