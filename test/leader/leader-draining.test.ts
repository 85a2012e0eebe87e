import {
  type Holdfast,
  type LeaderElection,
  type LeadOptions,
  LeaseLostError,
  type Term,
} from '../../src/index.ts'
import { createMemoryServer, type MemoryServer } from '../../src/testing.ts'
import { deferred } from '../support/deferred.ts'

/** Leaders whose function continues after a request to end. */

const LEASE_MS = 3_000
const DRAIN_MS = 10_000

let server: MemoryServer
let one: Holdfast
let two: Holdfast
let lost: Error[]
let renewals: number

beforeEach(() => {
  server = createMemoryServer({ virtualTime: true })
  one = server.newClient({ leaseMs: LEASE_MS })
  two = server.newClient()
  lost = []
  renewals = 0
  one.on('lost', ({ error }) => lost.push(error))
  one.on('renewed', () => {
    renewals += 1
  })
})
afterEach(async () => {
  const closed = Promise.all([one.close(), two.close()])
  await server.advance(1_000)
  await closed
})

/** Leads until `go()`, and ignores the signal of the term. */
function leading(election: LeaderElection, options: LeadOptions = {}) {
  const go = deferred<void>()
  const terms: Term[] = []
  const led = election.lead(async (term) => {
    terms.push(term)
    await go.promise
    return 'done'
  }, options)
  const settled = led.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  return { terms, settled, go: () => go.resolve() }
}

/** Makes one candidate the leader, and lets the other candidate wait. */
async function scene(options: LeadOptions) {
  const election = one.getLeaderElection('it')
  const leader = leading(election, options)
  await server.advance(0)
  const [term] = leader.terms
  if (term === undefined) throw new Error('Nobody leads')
  const next = leading(two.getLeaderElection('it'))
  await server.advance(0)
  return { election, leader, term, next }
}

const ends: [string, (election: LeaderElection, abort: AbortController) => unknown][] = [
  ['resign()', (election) => election.resign()],
  ['an abort of its signal', (_, abort) => abort.abort(new Error('shut down'))],
  ['close({ drainMs })', () => void one.close({ drainMs: 600_000 })],
]

test.each(ends)(
  'after %s a leader whose function continues is renewed for `maxDrainMs`, and then the next candidate leads',
  async (_, end) => {
    const abort = new AbortController()
    const { election, leader, term, next } = await scene({
      maxDrainMs: DRAIN_MS,
      signal: abort.signal,
      again: true,
    })
    await server.advance(60_000)
    void end(election, abort)
    await server.advance(DRAIN_MS - 1_000)
    expect([term.signal.aborted, term.valid, election.isLeading]).toEqual([true, false, false])
    expect(renewals).toBeGreaterThanOrEqual(60 + 5)
    expect([next.terms.length, lost]).toEqual([0, []])
    await server.advance(1_500)
    expect(next.terms.map(({ valid }) => valid)).toEqual([true])
    expect(lost).toEqual([expect.any(LeaseLostError)])
    expect(lost[0]).toMatchObject({ reason: 'expired', token: term.token })
    expect(lost[0]?.message).toContain('its `maxDrainMs` of 10000 ms is over')
    await server.advance(60_000)
    leader.go()
    await server.advance(0)
    expect(await leader.settled).toEqual({ error: lost[0] })
    // The client does not become a candidate again, and does not disturb the new leader.
    expect((await two.getLeaderElection('it').inspect()).candidateCount).toBe(0)
    expect(next.terms[0]?.valid).toBe(true)
    next.go()
    await server.advance(0)
  },
)

test('a lease that outlasts `maxDrainMs` is not renewed, and the next candidate leads at its end', async () => {
  const { election, leader, next } = await scene({ maxDrainMs: 1 })
  void election.resign()
  await server.advance(LEASE_MS - 1_500)
  expect([next.terms.length, renewals]).toEqual([0, 0])
  await server.advance(2_000)
  expect(next.terms.map(({ valid }) => valid)).toEqual([true])
  expect(lost[0]?.message).toContain('its `maxDrainMs` of 1 ms is over')
  leader.go()
  next.go()
  await server.advance(0)
})

test('`resign()` returns false when the lease ends before the function does', async () => {
  const { election, leader, next } = await scene({ maxDrainMs: DRAIN_MS })
  let handedOver: boolean | undefined
  void election.resign().then((value) => {
    handedOver = value
  })
  await server.advance(DRAIN_MS - 1_000)
  expect(handedOver).toBeUndefined()
  await server.advance(1_000)
  expect(handedOver).toBe(false)
  leader.go()
  next.go()
  await server.advance(0)
})

test('`close({ drainMs })` resolves when the lease ends before the function does', async () => {
  const { leader, next } = await scene({ maxDrainMs: DRAIN_MS })
  const closing = one.close({ drainMs: 600_000 })
  let cutOff: readonly unknown[] | undefined
  void closing.then((list) => {
    cutOff = list
  })
  await server.advance(DRAIN_MS - 1_000)
  expect(cutOff).toBeUndefined()
  await server.advance(2_000)
  expect(cutOff).toEqual([])
  leader.go()
  next.go()
  await server.advance(0)
})

test('after a function that ends within `maxDrainMs` the next candidate leads at once, and no lease is lost', async () => {
  const { election, leader, next } = await scene({ maxDrainMs: DRAIN_MS })
  const resigned = election.resign()
  await server.advance(DRAIN_MS - 2_000)
  leader.go()
  await server.advance(0)
  expect(next.terms.length).toBe(1)
  expect([await leader.settled, await resigned, lost]).toEqual([{ value: 'done' }, true, []])
  next.go()
  await server.advance(0)
})

test('the first of several calls that end a term sets the time limit', async () => {
  const { election, leader, next } = await scene({ maxDrainMs: DRAIN_MS })
  void election.resign()
  await server.advance(DRAIN_MS / 2)
  void election.resign()
  void one.close({ drainMs: 600_000 })
  await server.advance(DRAIN_MS / 2 + 500)
  expect(next.terms.length).toBe(1)
  leader.go()
  next.go()
  await server.advance(0)
})

test('the lock of the election is not renewed for longer when the function re-enters it', async () => {
  const election = one.getLeaderElection('it')
  const go = deferred<void>()
  const leading = election
    .lead(() => one.getFairLock('it').using(() => go.promise), { maxDrainMs: DRAIN_MS })
    .catch((error: unknown) => error)
  await server.advance(0)
  const waiting = two.getLock('it').lock()
  void election.resign()
  await server.advance(DRAIN_MS + 1_500)
  expect((await waiting).valid).toBe(true)
  go.resolve()
  await server.advance(0)
  expect(await leading).toBeInstanceOf(LeaseLostError)
  await (await waiting).release()
})

test.each([{}, { maxDrainMs: Infinity }])(
  'with %j a function that continues is renewed without a limit',
  async (options) => {
    const { election, leader, next } = await scene(options)
    void election.resign()
    await server.advance(600_000)
    expect([next.terms.length, lost]).toEqual([0, []])
    leader.go()
    await server.advance(0)
    expect(next.terms.length).toBe(1)
    next.go()
    await server.advance(0)
  },
)
