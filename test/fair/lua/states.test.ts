import {
  admin,
  CHANNEL,
  COUNTER,
  fields,
  JAVA_QUEUE,
  JAVA_TIMEOUTS,
  LOCK,
  QUEUE,
  server,
  WAITING,
} from '../../lua/run-script.ts'
import {
  ALIVE_MS,
  acquire,
  type BeatPlace,
  beat,
  beatAll,
  CLAIM_MS,
  contents,
  EXPIRED,
  expectTtl,
  type Given,
  GONE,
  given,
  INBOX,
  LEASE_MS,
  listen,
  mark,
  NOW,
  pass,
  queued,
  release,
  TOKEN,
  ticketOf,
} from './run-fair.ts'

afterEach(() => server.flush())

/** All states in which a call of the client `a` can find a lock. */
const states: [string, () => Given][] = [
  ['no key exists', () => ({ token: null })],
  ['the lock is free', () => ({})],
  ['the lock is free, and the counter is ahead of the clock', () => ({ token: NOW + 9 })],
  ['another owner holds the lock', () => ({ holder: 'h:1' })],
  ['another owner holds the lock without a token', () => ({ holder: 'h:1', token: null })],
  ['the caller holds the lock', () => ({ holder: 'a:1' })],
  ['the caller holds the lock without a token', () => ({ holder: 'a:1', token: null })],
  [
    'the caller was granted the lock',
    () => ({ holder: 'a:1', ttlMs: CLAIM_MS, waiting: { a: mark(1) } }),
  ],
  [
    'the caller was granted the lock, and others queue',
    () => ({
      holder: 'a:1',
      ttlMs: CLAIM_MS,
      queue: ['b:1', 'a:2'],
      waiting: { a: mark(0), b: mark(0) },
    }),
  ],
  [
    'the caller holds the lock, and its client also queues',
    () => ({ holder: 'a:1', queue: ['a:2', 'b:1'], waiting: { a: mark(1), b: mark(0) } }),
  ],
  [
    'the caller heads the queue',
    () => ({
      holder: 'h:1',
      queue: ['a:1', 'b:1'],
      waiting: { a: mark(0, 1_000), b: mark(0), 'a:1': 20_000 },
    }),
  ],
  [
    'the caller queues behind others',
    () => ({ holder: 'h:1', queue: ['b:1', 'a:1'], waiting: { a: mark(0), b: mark(0) } }),
  ],
  [
    'the caller was passed over',
    () => ({ holder: 'h:1', queue: ['b:1'], waiting: { b: mark(0) } }),
  ],
  [
    'the caller heads the queue of a free lock',
    () => ({ queue: ['a:1', 'b:1'], waiting: { a: mark(0), b: mark(0) } }),
  ],
  [
    'another owner heads the queue of a free lock',
    () => ({ queue: ['b:1', 'a:1', 'c:1'], waiting: { b: mark(0), a: mark(0), c: mark(0) } }),
  ],
  [
    'dead clients queue before the caller',
    () => ({
      queue: ['d:1', 'e:1', 'f:1', 'd:2', 'a:1', 'b:1'],
      waiting: { d: GONE(), e: EXPIRED(), a: mark(0), b: mark(0) },
    }),
  ],
  [
    'all waiters are dead',
    () => ({ queue: ['d:1', 'e:1', 'd:2'], waiting: { d: GONE(), e: EXPIRED(), 'd:2': 9 } }),
  ],
]

const place: BeatPlace = ['a:1', ticketOf(0)]
/** The calls of `a`. The third field is the answer to a repeated call, if that answer differs. */
const calls: [string, () => Promise<unknown>, string?][] = [
  ['a first acquire', () => acquire()],
  [
    'a first acquire with a lease shorter than the claim window',
    () => acquire({ leaseMs: 20_000 }),
  ],
  ['an acquire with a ticket', () => acquire({ ticket: ticketOf(0) })],
  ['an acquire that only tries', () => acquire({ ticket: 'try' })],
  ['a release', () => release({ owner: 'a:1' }), 'gone'],
  ['a leave', () => release({ owner: 'a:1', token: '' }), 'gone'],
  ['a heartbeat', () => beat([place])],
  ['a heartbeat for three', () => beat([place, ['a:2', ticketOf(7)], ['a:3', NOW, 20_000]])],
  ['a late acquire', () => acquire({ notAfterUs: 1 })],
  ['a late heartbeat', () => beatAll({ [LOCK]: [place] }, { notAfterUs: 1 })],
]

describe.each(calls)('%s that runs again', (_, call, again) => {
  test.each(states)('returns the expected answer and changes nothing: %s', async (_, state) => {
    await given(state())
    const first = await call()
    const then = await contents()
    const listener = await listen(CHANNEL, ...[...'abcdefh'].map((client) => INBOX + client))
    const second = await call()
    if (again === undefined) expect(coarse(second)).toEqual(coarse(first))
    else expect(second).toEqual([again])
    expect(alike(await contents())).toEqual(alike(then))
    expect(await listener.heard()).toEqual([])
  })
})

/** Leaves out remaining times, because they are a little shorter with each call. */
function coarse(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(coarse)
  return typeof answer === 'number' && answer > 1 && answer <= LEASE_MS ? 'a TTL' : answer
}

/** Leaves out data that any call may update or delete: whether a client listens now, and the data of dead clients. */
function alike(all: Record<string, unknown>): unknown {
  const { [WAITING]: waiting, ...others } = all
  const known = Object.entries((waiting ?? {}) as Record<string, string>)
    .filter(([who, what]) => who.startsWith('a:') || Number.parseInt(what, 10) * 1_000 >= NOW)
    .map(([who, what]) => [who, what.replace(/ [012] /, ' ')])
  return { ...others, waiting: Object.fromEntries(known) }
}

describe('a key of another type', () => {
  const asked: [string, string, () => Promise<unknown>][] = [
    ['an acquire', 'a free lock', () => acquire()],
    ['an acquire', 'a queue', () => acquire()],
    ['an acquire with a ticket', 'a queue', () => acquire({ ticket: ticketOf(0) })],
    ['an acquire with a ticket', 'a hold and a queue', () => acquire({ ticket: ticketOf(0) })],
    ['an acquire', 'a hold and a queue', () => acquire()],
    ['an acquire that only tries', 'a free lock', () => acquire({ ticket: 'try' })],
    ['a release', 'a hold', () => release()],
    ['a release', 'a hold and a queue', () => release()],
    ['a leave', 'a queue', () => release({ owner: 'a:1', token: '' })],
    ['a leave', 'a hold and a queue', () => release({ token: '' })],
    ['a heartbeat', 'a queue', () => beatAll({ [LOCK]: [place] })],
    ['a heartbeat', 'a hold and a queue', () => beatAll({ [LOCK]: [place] })],
  ]

  /** Returns the owner that makes the release or leaves. */
  const leaverOf = (there: string) => (there.includes('hold') ? 'h:1' : 'a:1')

  describe.each([LOCK, COUNTER, QUEUE, WAITING, JAVA_QUEUE, JAVA_TIMEOUTS])('at %s', (key) => {
    test.each(asked)(
      'stays unchanged after %s of %s, and no other owner loses its hold or its place',
      async (what, there, ask) => {
        const queue = there.includes('queue') ? ['d:1', 'a:1', 'b:1'] : []
        await given({
          ...(there.includes('hold') ? { holder: 'h:1' } : {}),
          queue,
          waiting: { a: mark(0), b: mark(0), d: mark(0) },
        })
        await admin.rpush(JAVA_QUEUE, 'j:1')
        await admin.pexpire(JAVA_QUEUE, 60_000)
        await admin.del(key)
        // A key of another program, without a TTL.
        await admin.sadd(key, 'precious')
        await ask().catch((error) => expect(error.message).toMatch(/WRONGTYPE/))
        expect(await admin.smembers(key)).toEqual(['precious'])
        expect(await admin.pttl(key)).toBe(-1)
        const holders = key === LOCK ? [] : Object.keys(await fields())
        const places = key === QUEUE ? [] : await queued()
        // The key itself may be the hold or the queue. A release ends the owner's hold, and a leave ends the owner's
        // place.
        const before = [
          ...(there.includes('hold') && key !== LOCK ? ['h:1'] : []),
          ...(key === QUEUE ? [] : queue),
        ]
        const own = what === 'a release' || what === 'a leave' ? leaverOf(there) : undefined
        expect([...holders, ...places]).toEqual(
          expect.arrayContaining(before.filter((owner) => owner !== own)),
        )
      },
    )
  })

  test.each([LOCK, COUNTER, QUEUE, WAITING])(
    'at %s is an error for its own lock only, in a heartbeat for several locks',
    async (key) => {
      await admin.sadd(key, 'precious')
      await admin.pexpire(key, 60_000)
      const [kind, answers] = await beatAll({
        one: [['a:1', 1]],
        [LOCK]: [['a:2', 2]],
        two: [['a:3', 3]],
      })
      expect(kind).toBe('done')
      expect(answers).toEqual([
        [expect.any(Number), String(NOW), '', 'a:1', 1, 'a:1'],
        [expect.stringMatching(/WRONGTYPE/)],
        [expect.any(Number), String(NOW), '', 'a:3', 1, 'a:3'],
      ])
      expect(await admin.smembers(key)).toEqual(['precious'])
    },
  )
})

describe('a read-write lock of Redisson with the same name', () => {
  const readWrite = { mode: 'write', 'j:1:write': '1' }
  beforeEach(async () => {
    await given({ queue: ['a:1'], waiting: { a: mark(0), 'a:1': 20_000 } })
    await admin.hset(LOCK, readWrite)
    await admin.pexpire(LOCK, LEASE_MS)
  })

  test.each(['', 'try', String(ticketOf(0))])(
    'an acquire with ticket "%s" is refused, and changes nothing',
    async (ticket) => {
      const then = await contents()
      await expect(acquire({ ticket, leaseMs: 2 * LEASE_MS })).rejects.toThrow(
        /WRONGTYPE.*read-write/,
      )
      expect(await contents()).toEqual(then)
      await expectTtl(LOCK, LEASE_MS)
    },
  )

  test('an acquire is refused even when the hash contains its owner', async () => {
    await admin.hset(LOCK, 'a:1', 1)
    await expect(acquire()).rejects.toThrow(/WRONGTYPE.*read-write/)
  })

  test('a heartbeat returns an error for its own lock only', async () => {
    const then = await contents()
    const [, answers] = await beatAll({ [LOCK]: [place], two: [['a:1', 1]] })
    expect(answers).toEqual([
      [expect.stringMatching(/^WRONGTYPE.*read-write/)],
      [expect.any(Number), String(NOW), '', 'a:1', 1, 'a:1'],
    ])
    expect((await contents())[LOCK]).toEqual(then[LOCK])
    expect((await contents())[QUEUE]).toEqual(then[QUEUE])
  })

  test.each(['', TOKEN])(
    'a release with token "%s" removes its owner from the hash, and does not free the lock',
    async (token) => {
      await admin.hset(LOCK, 'a:1', 1)
      const listener = await listen(CHANNEL)
      expect(await release({ owner: 'a:1', token })).toEqual(['gone'])
      expect(await fields()).toEqual(readWrite)
      expect(await listener.heard()).toEqual([])
      expect(await queued()).toEqual(token === '' ? [] : ['a:1'])
    },
  )
})

test('a counter that is kept forever never gets a TTL', async () => {
  const forGood = { counterMs: 0 }
  const kept = async (token: number) => {
    expect(await admin.get(COUNTER)).toBe(String(token))
    expect(await admin.pttl(COUNTER)).toBe(-1)
    pass(1)
  }
  await admin.set(COUNTER, '1')
  await acquire(forGood)
  await kept(NOW)
  await admin.del(COUNTER)
  await admin.set(COUNTER, String(NOW))
  await acquire({ owner: 'b:1', ...forGood })
  await release({ owner: 'a:1', token: NOW, ...forGood })
  await kept(NOW + 1_000)
  await admin.del(LOCK)
  await beat([['c:1', 1]], { client: 'c', ...forGood })
  await kept(NOW + 2_000)
})

describe('a full server', () => {
  const full = async (work: () => Promise<void>) => {
    await admin.config('SET', 'maxmemory', '1')
    try {
      await work()
    } finally {
      await admin.config('SET', 'maxmemory', '0')
    }
  }

  test('frees a lock, and lets waiters leave the queue', async () => {
    await given({ holder: 'h:1', queue: ['a:1', 'b:1'], waiting: { a: mark(0), b: mark(0) } })
    await full(async () => {
      for (const owner of ['b:1', 'a:1']) {
        expect(await release({ owner, token: '' })).toEqual(['gone'])
      }
      expect(await release()).toEqual(['freed', 0])
      expect(Object.keys(await contents())).toEqual([COUNTER])
    })
  })

  test('hands the lock off, and passes over dead clients', async () => {
    await given({
      holder: 'h:1',
      queue: ['d:1', 'a:1', 'b:1'],
      waiting: { d: GONE(), a: mark(0), b: mark(0) },
    })
    await full(async () => {
      expect(await release()).toEqual(['granted', 'a:1', String(NOW)])
      await expectTtl(LOCK, CLAIM_MS)
      expect(await acquire({ ticket: ticketOf(1) })).toEqual(['granted', String(NOW)])
      await expectTtl(LOCK, LEASE_MS)
      expect(await release({ owner: 'a:1', token: '' })).toEqual([
        'granted',
        'b:1',
        String(NOW + 1),
      ])
    })
  })

  test('grants a free lock to the first in the queue', async () => {
    await given({ queue: ['a:1', 'b:1'], waiting: { a: mark(0), b: mark(0) } })
    await full(async () => {
      expect((await acquire({ ticket: ticketOf(0) }))[0]).toBe('granted')
    })
  })

  test('keeps places, and puts missing places back', async () => {
    await given({ holder: 'h:1', queue: ['a:1', 'b:1'], waiting: { a: mark(1), 'b:1': 20_000 } })
    pass(ALIVE_MS / 2)
    await full(async () => {
      expect((await beat([place])).slice(1)).toEqual([String(TOKEN), 'a:1', ''])
      expect(await admin.hget(WAITING, 'a')).toBe(mark(0))
      expect((await acquire({ owner: 'b:1', ticket: ticketOf(1) }))[0]).toBe('queued')
      expect(await admin.hget(WAITING, 'b')).toBe(mark(0))
      await admin.zrem(QUEUE, 'a:1')
      expect((await beat([place])).slice(1)).toEqual([String(TOKEN), 'a:1', ''])
      expect(await queued()).toEqual(['a:1', 'b:1'])
    })
  })

  test.each(['', 'try'])('refuses a new owner with an OOM error: ticket "%s"', async (ticket) => {
    await full(async () => {
      await expect(acquire({ ticket })).rejects.toThrow(/^OOM/)
      expect(await contents()).toEqual({})
    })
  })

  test('refuses a new waiter with an OOM error', async () => {
    await given({ holder: 'h:1' })
    const then = await contents()
    await full(async () => {
      await expect(acquire()).rejects.toThrow(/^OOM/)
      expect(await contents()).toEqual(then)
    })
  })
})

test('after any sequence of calls there is one holder at a time, in turn, with rising tokens', async () => {
  // A small random generator, so that a failure can be repeated.
  let seed = 1
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const owners = ['a:1', 'a:2', 'b:1', 'b:2', 'c:1', 'd:1']
  await listen(...[...'abcd'].map((client) => INBOX + client))
  /** The tickets that the waiters know, and the holder with its token. */
  const tickets = new Map<string, number>()
  let holder = null as { owner: string; token: number } | null
  let last = TOKEN

  const granted = (owner: string, token: number) => {
    if (holder?.owner === owner && holder.token === token) return
    expect(holder).toBeNull()
    expect(token).toBeGreaterThan(last)
    const mine = tickets.get(owner) ?? Infinity
    for (const [other, ticket] of tickets) {
      if (other !== owner) expect([other, ticket > mine]).toEqual([other, true])
    }
    tickets.delete(owner)
    last = token
    holder = { owner, token }
  }
  /** Records a new owner in the hash as the holder. A call of another owner may have granted the lock. */
  const lookAtLock = async () => {
    const [owner, ...others] = Object.keys(await fields())
    expect(others).toEqual([])
    if (owner !== undefined) granted(owner, Number(await admin.get(COUNTER)))
    else expect(holder).toBeNull()
  }
  const lookAtQueue = async () => {
    const inOrder = [...tickets].sort(([, a], [, b]) => a - b).map(([owner]) => owner)
    expect(await queued()).toEqual(inOrder)
  }
  const placesOf = (client: string): BeatPlace[] =>
    owners
      .filter((owner) => owner.startsWith(client))
      .flatMap((owner) => {
        const ticket = tickets.get(owner) ?? (holder?.owner === owner ? 1 : undefined)
        return ticket === undefined ? [] : [[owner, ticket] satisfies BeatPlace]
      })

  for (let step = 0; step < 1_500; step++) {
    const owner = owners[random(owners.length)] as string
    const leaving = holder !== null && random(3) === 0 ? holder : null
    switch (random(9)) {
      case 0:
      case 1: {
        const known = tickets.get(owner)
        const [kind, first] = await acquire({ owner, ticket: known ?? '' })
        if (kind === 'granted') granted(owner, Number(first))
        else {
          if (known !== undefined) expect(Number(first)).toBe(known)
          await lookAtLock()
          tickets.set(owner, Number(first))
        }
        break
      }
      case 2:
        await acquire({ owner, ticket: 'try' })
        break
      case 3:
      case 4:
        if (leaving !== null) {
          holder = null
          const [kind] = await release(leaving)
          expect(kind).toBe(tickets.size > 0 ? 'granted' : 'freed')
          await lookAtLock()
          expect(await release(leaving)).toEqual(['gone'])
        }
        break
      case 5:
        tickets.delete(owner)
        if (holder?.owner === owner) holder = null
        await release({ owner, token: '' })
        break
      case 6: {
        const places = placesOf(owner.slice(0, 1))
        if (places.length > 0) await beat(places, { client: owner.slice(0, 1) })
        break
      }
      case 7:
        // The lease ends.
        if (random(4) === 0) {
          await admin.del(LOCK)
          holder = null
        }
        break
      case 8:
        pass(random(ALIVE_MS) / 20 - ALIVE_MS / 50)
        for (const client of 'abcd') {
          const places = placesOf(client)
          if (places.length > 0) await beat(places, { client })
        }
        break
    }
    await lookAtLock()
    await lookAtQueue()
  }

  for (const owner of owners) await release({ owner, token: '' })
  expect(Object.keys(await contents())).toEqual([COUNTER])
})
