import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, type LeaderElection, type Term } from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { Diary, faultRig, outcome, SHA, within } from '../support/fault-rig.ts'
import { refusal } from '../support/refusal.ts'
import { peek } from '../support/scripts.ts'

/** Connections that break, fall silent or lose messages, while a client leads, waits or observes. */
const rig = faultRig()

/** The extra time of a busy machine, in milliseconds. */
const NOISE_MS = 1_500

const electionOf = (client: Holdfast, label: string) => client.getLeaderElection('it', { label })

/** Leads until `go()`, even after the end of the term. */
function leading(election: LeaderElection, options = {}) {
  const terms: Term[] = []
  const aborts: Term[] = []
  const go = deferred<void>()
  const led = election.lead(async (term) => {
    terms.push(term)
    const ended = new Promise<void>((resolve) => {
      term.signal.addEventListener('abort', () => {
        expect([election.isLeading, term.valid]).toEqual([false, false])
        aborts.push(term)
        resolve()
      })
    })
    await Promise.race([go.promise, ended])
  }, options)
  led.catch(() => undefined)
  return {
    terms,
    aborts,
    led,
    go: () => go.resolve(),
    get begun() {
      return eventually(() => terms[0])
    },
  }
}

function told(election: LeaderElection): (string | null)[] {
  const labels: (string | null)[] = []
  election.on('changed', (leader) => labels.push(leader?.label ?? null))
  return labels
}

/** Waits until the observer listens, and until its last check after the subscription has ended. */
async function watches() {
  await eventually(async () => {
    const channels = ['redisson_lock__channel:{it}', 'holdfast_election:{it}']
    const reply = (await rig.server.admin.pubsub('NUMSUB', ...channels)) as unknown[]
    return Number(reply[1]) > 0 && Number(reply[3]) > 0
  })
  await eventually(async () => {
    const looks = rig.proxy.count(peek.sha1)
    await pause(100)
    return rig.proxy.count(peek.sha1) === looks
  })
}

test('after `resign()` one message makes the next candidate lead, without a request', async () => {
  const a = electionOf(rig.witness(), 'a')
  const client = rig.client()
  const b = electionOf(client, 'b')
  const first = leading(a)
  await first.begun
  const next = leading(b)
  await rig.queued('it', 1)
  await rig.hears(client)
  const requests = () => rig.proxy.count(SHA.acquireFair)
  for (let before = -1; before !== requests(); await pause(100)) before = requests()
  const asked = requests()
  const resigned = a.resign()
  await within(NOISE_MS, next.begun)
  expect(rig.proxy.count(SHA.acquireFair)).toBe(asked)
  expect(await resigned).toBe(true)
  next.go()
  await next.led
})

test.each(['cutAfter', 'mute'] as const)(
  'a renewal with the fault %s does not end the term',
  async (action) => {
    const client = rig.client({ leaseMs: 4_000 })
    const diary = new Diary(client)
    const a = electionOf(client, 'a')
    const leader = leading(a)
    const term = await leader.begun
    const trap = rig.proxy.onNextRequest(SHA.renew, action)
    await trap.seen
    await eventually(() => diary.renewed > 0)
    await never(() => !a.isLeading || term.signal.aborted, 500)
    leader.go()
    await leader.led
    expect(diary.lost).toEqual([])
    expect(leader.aborts).toEqual([])
  },
)

test('a frozen connection ends the term once, by the clock, before another candidate leads', async () => {
  const client = rig.client({ leaseMs: 3_000, commandTimeoutMs: 1_500 })
  const diary = new Diary(client)
  const a = electionOf(client, 'a')
  const leader = leading(a, { again: true })
  const term = await leader.begun
  const b = electionOf(rig.witness(), 'b')
  let wasOver: boolean | undefined
  const go = deferred<void>()
  const next = b.lead(async () => {
    wasOver = leader.aborts.length === 1
    await go.promise
  })
  await rig.queued('it', 1)
  await eventually(() => diary.renewed > 0)
  const hole = rig.proxy.blackHole({ onHeal: 'drop' })
  await eventually(() => leader.aborts.length > 0)
  expect([a.isLeading, term.valid, term.remaining()]).toEqual([false, false, 0])
  expect(term.signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'expired' })
  await eventually(() => wasOver !== undefined)
  expect(wasOver).toBe(true)
  hole.heal()
  // The client is a candidate again, behind the new leader, and does not disturb this leader.
  await rig.queued('it', 1)
  expect((await b.inspect()).candidates[0]?.label).toBe('a')
  expect(b.isLeading).toBe(true)
  expect([diary.lost, leader.aborts.length]).toEqual([[term.token], 1])
  go.resolve()
  await next
  await eventually(() => leader.terms.length === 2)
  leader.go()
  await leader.led
  expect(leader.aborts.length).toBe(1)
})

test('a leader that resigns in an outage ends its term at once, and its lock is released after the outage', async () => {
  const client = rig.client({ leaseMs: 30_000, outageMs: 1_000 })
  const errors: Error[] = []
  client.on('error', (error) => errors.push(error))
  const a = electionOf(client, 'a')
  const leader = leading(a)
  const term = await leader.begun
  const next = leading(electionOf(rig.witness(), 'b'))
  await rig.queued('it', 1)
  rig.proxy.refuse()
  rig.proxy.cut()
  const resigned = outcome(a.resign())
  expect([a.isLeading, term.valid]).toEqual([false, false])
  const again = outcome(a.resign())
  // The function has ended without an error.
  await leader.led
  for (const { error } of [await resigned, await again]) {
    expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
  }
  expect(next.terms).toEqual([])
  await rig.proxy.heal()
  // The lease would last 30 s.
  await within(5_000, next.begun)
  expect(a.isLeading).toBe(false)
  next.go()
  await next.led
})

test('an outage during a wait rejects `lead()`, and with `again` the candidate waits again', async () => {
  const [tired, steady] = [rig.client({ outageMs: 1_000 }), rig.client({ outageMs: 1_000 })]
  const first = leading(electionOf(rig.witness(), 'first'))
  await first.begun
  const once = leading(electionOf(tired, 'once'))
  const again = leading(electionOf(steady, 'again'), { again: true })
  await rig.queued('it', 2)
  rig.proxy.refuse()
  rig.proxy.cut()
  const { error } = await outcome(once.led)
  expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
  await pause(300)
  await rig.proxy.heal()
  first.go()
  await within(10_000, again.begun)
  again.go()
  await again.led
  expect(once.terms).toEqual([])
})

test('a temporary refusal rejects `lead()`, and with `again` the candidate waits again', async () => {
  const [tired, steady] = [rig.client({ outageMs: 800 }), rig.client({ outageMs: 800 })]
  const { errors } = new Diary(steady)
  const refusals = () => errors.filter((error) => String(error).includes('OOM')).length
  await rig.server.admin.config('SET', 'maxmemory', '1')
  const again = leading(electionOf(steady, 'again'), { again: true })
  try {
    const error = await refusal(() => leading(electionOf(tired, 'once')).led)
    expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED' })
    expect(String(error)).toContain('OOM')
    await eventually(() => refusals() >= 2)
  } finally {
    await rig.server.admin.config('SET', 'maxmemory', '0')
  }
  await within(10_000, again.begun)
  again.go()
  await again.led
})

test('a name that another kind of key has ends a candidacy, even with `again`', async () => {
  await rig.server.admin.set('it', 'a text')
  const { led } = leading(electionOf(rig.client(), 'again'), { again: true })
  expect((await outcome(within(5_000, led))).error).toMatchObject({ code: 'HOLDFAST_REFUSED' })
  await rig.server.admin.del('it')
})

describe('an observer', () => {
  /** First `a` leads, then `b`, then `a` again. Then the election gets the wanted state. */
  async function changes(end: 'leads' | 'vacant') {
    const [one, two] = [rig.witness(), rig.witness()]
    for (const [client, label] of [
      [one, 'a'],
      [two, 'b'],
    ] as const) {
      await electionOf(client, label).lead(() => undefined)
    }
    const last = leading(electionOf(one, 'a again'))
    await last.begun
    if (end === 'vacant') {
      last.go()
      await last.led
    }
    return last
  }

  test.each(['leads', 'vacant'] as const)(
    'whose subscription broke receives the last state (%s) once, after the reconnect',
    async (end) => {
      const first = leading(electionOf(rig.witness(), 'first'))
      await first.begun
      const client = rig.client({ leaseMs: 600_000, commandTimeoutMs: 5_000 })
      const labels = told(electionOf(client, 'observer'))
      await eventually(() => labels.length === 1)
      await watches()
      const hole = rig.proxy.blackHole({ only: 'subscriber', onHeal: 'drop' })
      first.go()
      await first.led
      const last = await changes(end)
      await never(() => labels.length > 1, 50)
      hole.heal()
      await eventually(() => labels.length > 1)
      await never(() => labels.length > 2, 100)
      expect(labels).toEqual(['first', end === 'leads' ? 'a again' : null])
      last.go()
      await last.led
    },
  )

  test('without messages finds a change by its own check, within a third of its lease', async () => {
    const client = rig.client({ leaseMs: 900, commandTimeoutMs: 10_000 })
    const labels = told(electionOf(client, 'observer'))
    await eventually(() => labels.length === 1)
    await watches()
    rig.proxy.blackHole({ only: 'subscriber', onHeal: 'drop' })
    const first = leading(electionOf(rig.witness(), 'first'))
    await first.begun
    await eventually(() => labels.length === 2, { timeoutMs: 300 + NOISE_MS })
    first.go()
    await first.led
    await eventually(() => labels.length === 3, { timeoutMs: 300 + NOISE_MS })
    expect(labels).toEqual([null, 'first', null])
  })

  test('checks a third of its lease apart while it receives no message', async () => {
    const first = leading(electionOf(rig.witness(), 'first'))
    await first.begun
    const client = rig.client({ leaseMs: 900, commandTimeoutMs: 5_000 })
    const labels = told(electionOf(client, 'observer'))
    await eventually(() => labels.length === 1)
    await watches()
    const [before, from] = [rig.proxy.count(peek.sha1), performance.now()]
    await pause(900)
    const checks = rig.proxy.count(peek.sha1) - before
    expect(checks).toBeLessThanOrEqual(1 + (performance.now() - from) / 300)
    expect(labels).toEqual(['first'])
    first.go()
    await first.led
  })

  test('does not receive an older state that arrives late while it leads itself', async () => {
    const first = leading(electionOf(rig.witness(), 'first'))
    await first.begun
    const client = rig.client({ commandTimeoutMs: 2_000 })
    const own = electionOf(client, 'own')
    const next = leading(own)
    await rig.queued('it', 1)
    await rig.hears(client)
    const look = rig.proxy.onNextRequest(peek.sha1, 'holdReply')
    const labels = told(own)
    await look.seen
    first.go()
    // A message grants the lock while the answer about the previous leader is on its way.
    await next.begun
    expect(labels).toEqual(['own'])
    look.release()
    await eventually(() => rig.proxy.count(peek.sha1) > 1)
    await never(() => labels.length > 1, 100)
    next.go()
    await next.led
    await eventually(() => labels.length === 2)
    expect(labels).toEqual(['own', null])
  })

  test('does not receive its own leadership for a grant that it has given up', async () => {
    const client = rig.client()
    const [a, other] = [electionOf(client, 'a'), electionOf(client, 'other')]
    const first = leading(electionOf(rig.witness(), 'first'))
    await first.begun
    const abort = new AbortController()
    const gaveUp = leading(a, { signal: abort.signal })
    await rig.queued('it', 1)
    const owner = (await a.inspect()).candidates[0]?.owner as string
    abort.abort(new Error('never mind'))
    await expect(gaveUp.led).rejects.toThrow('never mind')
    await rig.queued('it', 0)
    first.go()
    await first.led
    // The server has this state until it learns that the client gave up the grant.
    await rig.server.admin.hset('it', owner, 1)
    await rig.server.admin.pexpire('it', 700)
    const again = leading(a)
    await rig.queued('it', 1)
    const seen: [string | undefined, boolean][] = []
    a.on('changed', (leader) => seen.push([leader?.owner, a.isLeading]))
    const heard = told(other)
    const term = await again.begun
    expect(seen.filter(([own]) => own !== undefined)).toEqual([[term.owner, true]])
    await eventually(() => heard.includes('a'))
    again.go()
    await again.led
    await eventually(() => seen.at(-1)?.[0] === undefined && heard.at(-1) === null)
    expect(seen.filter(([own]) => own !== undefined)).toEqual([[term.owner, true]])
    // Other listeners in the same process receive only this term.
    expect(heard.filter((label) => label !== null)).toEqual(['a'])
  })

  test('has `isLeading` false before it receives the change after a `forceUnlock()`', async () => {
    const client = rig.client({ leaseMs: 30_000 })
    const a = electionOf(client, 'a')
    const seen: [string | null, boolean][] = []
    const leader = leading(a)
    const term = await leader.begun
    a.on('changed', (info) => seen.push([info?.label ?? null, a.isLeading]))
    await eventually(() => seen.length === 1)
    await rig.listening('it')
    expect(await rig.witness().getLock('it').forceUnlock()).toBe(true)
    // The change comes before the next renewal, which would come after 10 s.
    await eventually(() => seen.length === 2, { timeoutMs: 5_000 })
    expect(seen).toEqual([
      ['a', true],
      [null, false],
    ])
    expect(term.signal.aborted).toBe(true)
    await expect(leader.led).rejects.toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'gone' })
  })
})

test('a client of independent masters refuses an election, and the error names `getLock()`', () => {
  const client = new Holdfast({ masters: ['redis://127.0.0.1:1'] })
  expect(() => client.getLeaderElection('it')).toThrow(
    expect.objectContaining({
      code: 'HOLDFAST_INVALID_ARGUMENT',
      message: expect.stringMatching(/"it".*independent masters.*getLock\(\)/),
    }),
  )
  return client.close()
})
