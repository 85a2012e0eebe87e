import { getEventListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type Holdfast,
  type LeaderElection,
  type LeaderInfo,
  RedisUnavailableError,
  type Term,
} from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { pendingSourceTimers } from '../support/pending-timers.ts'
import { describeWorlds, type WorldHandle } from '../support/worlds.ts'

/** Leads until the term ends, or until `go()`. */
function leading(election: LeaderElection, options?: { signal?: AbortSignal; again?: boolean }) {
  const begun = deferred<Term>()
  const go = deferred<void>()
  const led = election.lead(async (term) => {
    begun.resolve(term)
    const ended = new Promise<void>((resolve) => {
      if (term.signal.aborted) resolve()
      term.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([go.promise, ended])
    return term.token
  }, options)
  led.catch(() => undefined)
  return { led, begun: begun.promise, go: () => go.resolve() }
}

const candidates = (election: LeaderElection, count: number) =>
  eventually(async () => (await election.inspect()).candidates.length === count)

/** The labels of the leaders that an election emitted. */
function diaryOf(election: LeaderElection): (string | null)[] {
  const told: (string | null)[] = []
  election.on('changed', (leader) => told.push(leader?.label ?? null))
  return told
}

describeWorlds('a leader election', (world) => {
  let clients: Holdfast[]

  const newElection = (label: string, options = {}) => {
    const client = world.newClient(options)
    clients.push(client)
    return client.getLeaderElection('it', { label })
  }

  beforeEach(() => {
    clients = []
  })

  test('candidates of several clients lead one at a time, in the order of their requests', async () => {
    const order: string[] = []
    const tokens: number[] = []
    let leaders = 0
    const first = newElection('first')
    const holds = leading(first)
    await holds.begun
    const led: Promise<void>[] = []
    for (const label of ['a', 'b', 'c', 'd']) {
      const election = newElection(label)
      led.push(
        election.lead(async (term) => {
          leaders += 1
          expect(leaders).toBe(1)
          expect(election.isLeading).toBe(true)
          order.push(label)
          tokens.push(term.token)
          await pause(5)
          leaders -= 1
        }),
      )
      await candidates(first, led.length)
    }
    expect(order).toEqual([])
    holds.go()
    tokens.unshift(await holds.led)
    await Promise.all(led)
    expect(order).toEqual(['a', 'b', 'c', 'd'])
    expect(tokens).toEqual([...tokens].sort((a, b) => a - b))
    expect(new Set(tokens).size).toBe(5)
    expect(await first.leader()).toBeNull()
  })

  test('`lead()` returns the result of the function, and rejects with its error', async () => {
    const election = newElection('a')
    expect(await election.lead(() => 'done')).toBe('done')
    expect(election.isLeading).toBe(false)
    const failure = new Error('no')
    await expect(election.lead(() => Promise.reject(failure))).rejects.toBe(failure)
    expect(election.isLeading).toBe(false)
    expect(await election.leader()).toBeNull()
  })

  test('`leader()` and `inspect()` return the leader and the candidates, with their labels', async () => {
    const strange = 'b/2 ~:{ü} %2F\n'
    const [a, b, c] = [newElection('a'), newElection(strange), newElection('c')]
    expect(await a.inspect()).toEqual({ leader: null, candidates: [], candidateCount: 0 })
    const leader = leading(a)
    const term = await leader.begun
    const next = leading(b)
    await candidates(a, 1)
    const last = leading(c)
    await candidates(a, 2)
    const seen = await c.leader()
    expect(seen).toEqual({
      label: 'a',
      owner: term.owner,
      token: term.token,
      ttlMs: expect.any(Number),
    })
    expect(term.owner.startsWith(`${clients[0]?.id}:`)).toBe(true)
    expect(seen?.ttlMs).toBeGreaterThan(20_000)
    const info = await b.inspect()
    expect(info.leader).toMatchObject({ label: 'a', token: term.token })
    expect(info.candidates.map(({ label }) => label)).toEqual([strange, 'c'])
    expect(info.candidateCount).toBe(2)
    for (const { waitedMs, process } of info.candidates) {
      expect(waitedMs).toBeGreaterThanOrEqual(0)
      expect(process).toMatch(/:\d+$/)
    }
    leader.go()
    expect((await next.begun).owner).toBe((await a.leader())?.owner)
    expect((await a.leader())?.label).toBe(strange)
    next.go()
    await last.begun
    last.go()
    await last.led
  })

  test('the label is the label of the client unless the call has a label', async () => {
    const client = world.newClient({ label: 'of the client' })
    expect(client.getLeaderElection('it').label).toBe('of the client')
    expect(client.getLeaderElection('it', { label: 'own' }).label).toBe('own')
    await client.getLeaderElection('it').lead(async () => {
      expect((await client.getLeaderElection('it').leader())?.label).toBe('of the client')
    })
  })

  test('after `resign()` the next candidate leads as soon as the function ends, without a wait for the lease', async () => {
    const [a, b] = [newElection('a'), newElection('b')]
    const leader = leading(a)
    const term = await leader.begun
    const next = leading(b)
    await candidates(a, 1)
    const seen: unknown[] = []
    term.signal.addEventListener('abort', () => seen.push(a.isLeading, term.valid))
    const resigned = a.resign()
    expect([a.isLeading, term.valid, term.remaining()]).toEqual([false, false, 0])
    expect(seen).toEqual([false, false])
    expect(term.signal.reason).toMatchObject({
      name: 'ResignedError',
      code: 'HOLDFAST_RESIGNED',
      lockName: 'it',
      token: term.token,
    })
    expect(() => term.assertValid()).toThrow(term.signal.reason)
    // The lease is 30 s. Another test shows with a proxy that one message is enough.
    const nextTerm = await within(5_000, next.begun)
    expect(nextTerm.token).toBeGreaterThan(term.token)
    expect(await resigned).toBe(true)
    expect(await leader.led).toBe(term.token)
    expect(await a.resign()).toBe(false)
    next.go()
    await next.led
  })

  test('a function that ignores `resign()` keeps a renewed lease, and the next candidate waits', async () => {
    // If the machine stops the process for two thirds of the lease, the term ends.
    const [a, b] = [newElection('a', { leaseMs: 6_000 }), newElection('b')]
    let renewals = 0
    clients[0]?.on('renewed', () => {
      renewals += 1
    })
    const losses: string[] = []
    clients[0]?.on('lost', ({ error }) => losses.push(error.message))
    const go = deferred<void>()
    const term = deferred<Term>()
    let isRunning = true
    const led = a.lead(async (own) => {
      term.resolve(own)
      await go.promise
      isRunning = false
    })
    await term.promise
    let overlapped: boolean | undefined
    const next = b.lead(() => {
      overlapped = isRunning
    })
    await candidates(a, 1)
    const resigned = a.resign()
    const again = a.resign()
    const before = renewals
    await eventually(() => renewals >= before + 2 || losses.length > 0)
    expect(losses).toEqual([])
    expect(overlapped).toBeUndefined()
    expect((await b.leader())?.owner).toBe((await term.promise).owner)
    go.resolve()
    await Promise.all([led, next])
    expect([await resigned, await again]).toEqual([true, true])
    expect(overlapped).toBe(false)
  })

  test('a function that ignores `resign()` for longer than `maxDrainMs` loses its term, and the next candidate leads', async () => {
    const [a, b] = [newElection('a', { leaseMs: 4_500 }), newElection('b')]
    const losses: string[] = []
    clients[0]?.on('lost', ({ error }) => losses.push(error.message))
    const go = deferred<void>()
    const term = deferred<Term>()
    const led = a.lead(
      (own) => {
        term.resolve(own)
        return go.promise
      },
      { maxDrainMs: 5_000 },
    )
    led.catch(() => undefined)
    const own = await term.promise
    const next = leading(b)
    await candidates(a, 1)
    const resigned = a.resign()
    const nextTerm = await next.begun
    expect(nextTerm.token).toBeGreaterThan(own.token)
    expect([own.valid, own.signal.aborted]).toEqual([false, true])
    expect(losses).toEqual([expect.stringContaining('its `maxDrainMs` of 5000 ms is over')])
    expect(await resigned).toBe(false)
    go.resolve()
    await expect(led).rejects.toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'expired' })
    expect(nextTerm.valid).toBe(true)
    next.go()
    await next.led
  })

  test('`resign()` inside the function does not wait for the function', async () => {
    const a = newElection('a')
    const reason = await a.lead(async (term) => {
      expect(await a.resign()).toBe(true)
      expect(a.isLeading).toBe(false)
      return term.signal.reason as Error
    })
    expect(reason.message).toMatch(/has resigned/)
    expect(await a.leader()).toBeNull()
  })

  test('`resign()` of a candidate that does not lead changes nothing', async () => {
    const [a, b] = [newElection('a'), newElection('b')]
    expect(await b.resign()).toBe(false)
    const leader = leading(a)
    await leader.begun
    const next = leading(b)
    await candidates(a, 1)
    expect(await b.resign()).toBe(false)
    leader.go()
    await next.begun
    next.go()
    await next.led
  })

  test('an abort of a waiting candidate removes it from the queue, and `lead()` rejects with the reason', async () => {
    const [a, b, c] = [newElection('a'), newElection('b'), newElection('c')]
    const leader = leading(a)
    await leader.begun
    const abort = new AbortController()
    const second = leading(b, { signal: abort.signal })
    await candidates(a, 1)
    const third = leading(c)
    await candidates(a, 2)
    const reason = new Error('deployed anew')
    abort.abort(reason)
    await expect(second.led).rejects.toBe(reason)
    await candidates(a, 1)
    leader.go()
    await third.begun
    third.go()
    await third.led
    await expect(b.lead(() => 1, { signal: abort.signal })).rejects.toBe(reason)
  })

  test('an abort of a leader ends its term, and the next candidate leads', async () => {
    const [a, b] = [newElection('a'), newElection('b')]
    const abort = new AbortController()
    const leader = leading(a, { signal: abort.signal, again: true })
    const term = await leader.begun
    const next = leading(b)
    await candidates(a, 1)
    const reason = new Error('shut down')
    abort.abort(reason)
    expect([term.signal.aborted, term.valid, a.isLeading]).toEqual([true, false, false])
    expect(term.signal.reason).toBe(reason)
    // `lead()` settles like the function, and the client does not become a candidate again.
    expect(await leader.led).toBe(term.token)
    await next.begun
    next.go()
    await next.led
  })

  test('an abort at the moment of the grant leaves no leader', async () => {
    const [a, b] = [newElection('a'), newElection('b')]
    for (let round = 0; round < 12; round++) {
      const leader = leading(a)
      await leader.begun
      const abort = new AbortController()
      let led = false
      const next = b.lead(
        (term) => {
          led = true
          expect(term.signal.aborted).toBe(false)
          return new Promise<void>((resolve) => {
            term.signal.addEventListener('abort', () => resolve())
          })
        },
        { signal: abort.signal },
      )
      next.catch(() => undefined)
      await candidates(a, 1)
      leader.go()
      await leader.led
      // The abort comes before, at or after the grant.
      for (let turns = 0; turns < round; turns++) await new Promise(setImmediate)
      abort.abort(new Error('never mind'))
      if (led) await next
      else await expect(next).rejects.toThrow('never mind')
      expect(b.isLeading).toBe(false)
      await eventually(async () => (await a.leader()) === null)
    }
  })

  test('`close()` ends a wait and a term, and leaves nothing behind', async () => {
    const [a, b] = [newElection('a'), newElection('b')]
    const watching = newElection('c')
    const told = diaryOf(watching)
    const leader = leading(a)
    const term = await leader.begun
    const second = leading(b)
    await candidates(watching, 1)
    await clients[1]?.close()
    await expect(second.led).rejects.toMatchObject({ code: 'HOLDFAST_CLOSED' })
    expect((await watching.inspect()).candidates).toEqual([])
    await clients[0]?.close()
    expect([term.signal.aborted, term.valid, a.isLeading]).toEqual([true, false, false])
    expect(term.signal.reason).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    await leader.led.catch(() => undefined)
    await eventually(() => told.at(-1) === null && told.includes('a'))
    expect(await watching.leader()).toBeNull()
    await expect(a.lead(() => 1)).rejects.toMatchObject({ code: 'HOLDFAST_CLOSED' })
    await expect(a.leader()).rejects.toMatchObject({ code: 'HOLDFAST_CLOSED' })
  })

  test('a candidate waits for its turn even when its client has a short `waitMs`', async () => {
    const [a, b] = [newElection('a'), newElection('b', { waitMs: 30 })]
    const leader = leading(a)
    await leader.begun
    const next = leading(b)
    await candidates(a, 1)
    await never(async () => (await a.inspect()).candidateCount === 0, 80)
    leader.go()
    await next.begun
    next.go()
    await Promise.all([leader.led, next.led])
  })

  test('a lost term rejects with the loss when its function has ended', async () => {
    const [a, b] = [newElection('a'), newElection('b')]
    const leader = leading(a)
    const term = await leader.begun
    const next = leading(b)
    await candidates(a, 1)
    const seen: boolean[] = []
    term.signal.addEventListener('abort', () => seen.push(a.isLeading, term.valid))
    // The client of the leader forces the lock, so the leader learns of the loss at once.
    await clients[0]?.getLock('it').forceUnlock()
    expect(seen).toEqual([false, false])
    await expect(leader.led).rejects.toMatchObject({
      code: 'HOLDFAST_LEASE_LOST',
      reason: 'forced',
    })
    expect((await next.begun).token).toBeGreaterThan(term.token)
    next.go()
    await next.led
  })

  test('with `again` a candidate that lost its term stands again as another owner', async () => {
    const a = newElection('a')
    const terms: Term[] = []
    const led = a.lead(
      async (term) => {
        terms.push(term)
        expect(a.isLeading).toBe(true)
        if (terms.length === 3) return 'done'
        return new Promise<string>((resolve, reject) => {
          term.signal.addEventListener('abort', () => {
            // The function returns or throws, but the loss has ended the term in both cases.
            if (terms.length === 1) resolve('too late')
            else reject(term.signal.reason)
          })
        })
      },
      { again: true },
    )
    for (const count of [1, 2]) {
      await eventually(() => terms.length === count)
      await clients[0]?.getLock('it').forceUnlock()
    }
    expect(await led).toBe('done')
    const tokens = terms.map(({ token }) => token)
    expect(tokens).toEqual([...tokens].sort((x, y) => x - y))
    expect(new Set(terms.map(({ owner }) => owner)).size).toBe(3)
  })

  test('with `again` another error of the function ends the candidacy, and is the cause of the loss', async () => {
    const a = newElection('a')
    let terms = 0
    const led = a.lead(
      async (term) => {
        terms += 1
        await clients[0]?.getLock('it').forceUnlock()
        if (terms === 1) await pause(10_000, undefined, { signal: term.signal })
        throw new TypeError('of the function')
      },
      { again: true },
    )
    await expect(led).rejects.toMatchObject({
      code: 'HOLDFAST_LEASE_LOST',
      cause: new TypeError('of the function'),
    })
    expect(terms).toBe(2)
  })

  test('with `again` a candidate stands again after a loss that it finds at the end of its function', async () => {
    const a = newElection('a')
    newElection('b')
    let terms = 0
    const led = a.lead(
      async () => {
        terms += 1
        // Another client forces the lock, so the leader does not learn of the loss.
        if (terms === 1) expect(await clients[1]?.getLock('it').forceUnlock()).toBe(true)
        return terms
      },
      { again: true },
    )
    expect(await led).toBe(2)
  })

  test('with `again` an error that the function throws at its abort ends the candidacy, and a resignation does too', async () => {
    const a = newElection('a')
    const failure = new Error('a bug')
    const failing = a.lead(
      (term) =>
        new Promise((_, reject) => {
          term.signal.addEventListener('abort', () => reject(failure))
        }),
      { again: true },
    )
    failing.catch(() => undefined)
    await eventually(() => a.isLeading)
    await clients[0]?.getLock('it').forceUnlock()
    await expect(failing).rejects.toMatchObject({ code: 'HOLDFAST_LEASE_LOST', cause: failure })
    const leader = leading(a, { again: true })
    const term = await leader.begun
    await a.resign()
    expect(await leader.led).toBe(term.token)
  })

  test('with `again` an outage error that the function itself throws ends the candidacy', async () => {
    let terms = 0
    const outage = new RedisUnavailableError('of another call')
    const led = newElection('a').lead(
      () => {
        terms += 1
        throw outage
      },
      { again: true },
    )
    await expect(led).rejects.toBe(outage)
    expect(terms).toBe(1)
  })

  test('`lead()` leaves no listener on the signal of its caller', async () => {
    const { signal } = new AbortController()
    await newElection('a').lead(
      () => expect(getEventListeners(signal, 'abort').length).toBeGreaterThan(0),
      { signal },
    )
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('a term whose function has ended is over, and its error says so', async () => {
    const term = await newElection('a').lead((own) => own)
    expect([term.valid, term.remaining()]).toEqual([false, 0])
    expect(() => term.assertValid()).toThrow('is over: the function of lead() has ended')
  })

  test('a candidate that resigns in the `changed` event of its own term runs no function', async () => {
    const a = newElection('a')
    let hasRun = false
    a.on('changed', (leader) => {
      if (leader !== null) void a.resign()
    })
    const led = a.lead(() => {
      hasRun = true
    })
    await expect(led).rejects.toMatchObject({ code: 'HOLDFAST_RESIGNED' })
    expect(hasRun).toBe(false)
  })

  test('one object is one candidate; two objects with the same label are two candidates', async () => {
    const client = world.newClient()
    const [one, two] = [
      client.getLeaderElection('it', { label: 'same' }),
      client.getLeaderElection('it', { label: 'same' }),
    ]
    const first = leading(one)
    const term = await first.begun
    await expect(one.lead(() => 1)).rejects.toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT' })
    const second = leading(two)
    await candidates(one, 1)
    expect([one.isLeading, two.isLeading]).toEqual([true, false])
    first.go()
    const next = await second.begun
    expect([one.isLeading, two.isLeading]).toEqual([false, true])
    expect(next.token).toBeGreaterThan(term.token)
    second.go()
    await second.led
  })

  test('`changed` emits each term once, and null without a leader, after `isLeading` has changed', async () => {
    // A check without a message would come only after 200 s.
    const slow = { leaseMs: 600_000 }
    const [a, b] = [newElection('a', slow), newElection('b', slow)]
    const observer = newElection('nobody', slow)
    const seen: [LeaderInfo | null, boolean][] = []
    const own: [string | null, boolean][] = []
    observer.on('changed', (leader) => seen.push([leader, observer.isLeading]))
    await eventually(() => seen.length === 1)
    a.on('changed', (leader) => own.push([leader?.label ?? null, a.isLeading]))
    await eventually(() => own.length === 1)
    const leader = leading(a)
    const term = await leader.begun
    // The client's own listeners receive the change before the function starts.
    expect(own).toEqual([
      [null, false],
      ['a', true],
    ])
    await eventually(() => seen.length === 2)
    const next = leading(b)
    await candidates(a, 1)
    void a.resign()
    const nextTerm = await next.begun
    await eventually(() => seen.length === 3 && own.length === 3)
    next.go()
    await next.led
    await eventually(() => seen.length === 4 && own.length === 4)
    expect(seen.map(([info]) => info && [info.label, info.token, info.owner])).toEqual([
      null,
      ['a', term.token, term.owner],
      ['b', nextTerm.token, nextTerm.owner],
      null,
    ])
    expect(own.slice(2)).toEqual([
      ['b', false],
      [null, false],
    ])
    await never(() => seen.length > 4 || own.length > 4, 50)
  })

  test('`changed` emits a holder of the fair lock with the same name in the same client', async () => {
    const client = world.newClient()
    const lease = await client.getFairLock('it').lock()
    const owners: (string | undefined)[] = []
    client.getLeaderElection('it').on('changed', (leader) => owners.push(leader?.owner))
    await eventually(() => owners.length === 1)
    expect(owners).toEqual([lease.owner])
    await lease.release()
  })

  test('a new listener of `changed` receives the leader, and the watch has no timer without a listener', async () => {
    const client = world.newClient({ leaseMs: 60_000 })
    const [a, b] = [client.getLeaderElection('it'), client.getLeaderElection('it')]
    const leader = leading(a)
    const { token } = await leader.begun
    const timers = () => [...pendingSourceTimers().keys()].filter((at) => /leader-watch/.test(at))
    expect(timers()).toEqual([])
    const tokens: (number | null)[] = []
    const listener = (info: LeaderInfo | null) => tokens.push(info?.token ?? null)
    b.on('changed', listener)
    await eventually(() => tokens.length === 1 && timers().length === 1)
    b.off('changed', listener)
    expect(timers()).toEqual([])
    b.once('changed', listener)
    await eventually(() => tokens.length === 2)
    expect(timers()).toEqual([])
    b.addListener('changed', listener)
    await eventually(() => tokens.length === 3 && timers().length === 1)
    b.removeAllListeners()
    expect(timers()).toEqual([])
    expect(tokens).toEqual([token, token, token])
    leader.go()
    await leader.led
    expect(tokens.length).toBe(3)
  })

  test('inside its function, the client of the leader re-enters the lock of the election', async () => {
    const client = world.newClient()
    const a = client.getLeaderElection('it')
    const count = await a.lead(() =>
      client.getFairLock('it').using(() => client.getFairLock('it').holdCount()),
    )
    expect(count).toBe(2)
    expect(await a.leader()).toBeNull()
  })

  test('a holder of the fair lock with the same name leads, without a label', async () => {
    const client = world.newClient()
    const a = newElection('a')
    const lease = await client.getFairLock('it').lock()
    expect(await a.leader()).toMatchObject({ label: null, owner: lease.owner, token: lease.token })
    const leader = leading(a)
    await candidates(a, 1)
    const waiting = client.getFairLock('it').lock()
    await candidates(a, 2)
    expect((await a.inspect()).candidates.map(({ label }) => label)).toEqual(['a', null])
    await lease.release()
    await leader.begun
    leader.go()
    await (await waiting).release()
  })

  badInput(world)
})

function badInput(world: WorldHandle): void {
  test.each([
    ['a name', (client: Holdfast) => client.getLeaderElection(''), '""'],
    ['a name', (client: Holdfast) => client.getLeaderElection(7 as never), '7'],
    ['options', (client: Holdfast) => client.getLeaderElection('it', 'a' as never), '"a"'],
    ['options', (client: Holdfast) => client.getLeaderElection('it', null as never), 'null'],
    [
      'an option',
      (client: Holdfast) => client.getLeaderElection('it', { labels: 'a' } as never),
      'labels',
    ],
    ['a label', (client: Holdfast) => client.getLeaderElection('it', { label: '' }), '""'],
    ['a label', (client: Holdfast) => client.getLeaderElection('it', { label: 5 as never }), '5'],
    [
      'a label',
      (client: Holdfast) => client.getLeaderElection('it', { label: '\ud800' }),
      '1 to 200',
    ],
    [
      'a label',
      (client: Holdfast) => client.getLeaderElection('it', { label: 'x'.repeat(201) }),
      '1 to 200',
    ],
  ])('`getLeaderElection()` refuses an invalid argument, with its value: %s', (_, make, value) => {
    const client = world.newClient()
    expect(() => make(client)).toThrow(
      expect.objectContaining({
        code: 'HOLDFAST_INVALID_ARGUMENT',
        message: expect.stringContaining(value),
      }),
    )
  })

  test.each([
    ['a function', (one: LeaderElection) => one.lead('work' as never), '"work"'],
    ['a signal', (one: LeaderElection) => one.lead(() => 1, { signal: 5 as never }), '5'],
    ['again', (one: LeaderElection) => one.lead(() => 1, { again: 'yes' as never }), '"yes"'],
    ['a drain of 0', (one: LeaderElection) => one.lead(() => 1, { maxDrainMs: 0 }), 'got 0'],
    ['a drain', (one: LeaderElection) => one.lead(() => 1, { maxDrainMs: '5' as never }), '"5"'],
    ['an option', (one: LeaderElection) => one.lead(() => 1, { leaseMs: 5 } as never), 'leaseMs'],
    ['options', (one: LeaderElection) => one.lead(() => 1, 5 as never), '5'],
  ])('`lead()` refuses an invalid argument, with its value: %s', async (_, lead, value) => {
    const election = world.newClient().getLeaderElection('it')
    await expect(lead(election)).rejects.toMatchObject({
      code: 'HOLDFAST_INVALID_ARGUMENT',
      message: expect.stringContaining(value),
    })
    expect(await election.lead(() => 'still of use')).toBe('still of use')
  })
}
