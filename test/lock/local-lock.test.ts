import { ChannelObserver } from '../../src/channels/channel-observer.ts'
import { ClosedError } from '../../src/index.ts'
import { systemClock } from '../../src/kit/clock.ts'
import { behind } from '../../src/kit/handle.ts'
import type { Hold } from '../../src/lease/hold.ts'
import { acquire } from '../../src/local/acquire.ts'
import { closeAll } from '../../src/local/close-all.ts'
import { LocalLease } from '../../src/local/local-lease.ts'
import { LocalLock } from '../../src/local/local-lock.ts'
import { releaseOne, sendRelease } from '../../src/local/release.ts'
import type { Services } from '../../src/local/services.ts'
import { plainKind } from '../../src/locks/lock/plain-kind.ts'
import { HeldLeases } from '../../src/owner/held-leases.ts'
import { Owners } from '../../src/owner/owners.ts'
import type { AcquireAnswer, HandOverAnswer, Released } from '../../src/servers/answers.ts'
import { CallFailure } from '../../src/servers/call-failure.ts'
import { REDIS_WORDS } from '../../src/servers/redis/connection/redis-words.ts'
import type { Reply } from '../../src/servers/reply.ts'
import type { Attempt, LoweredHold, Passing } from '../../src/servers/requests.ts'
import { ResponseTime } from '../../src/waiting/response-time.ts'
import type { LeaseRequest } from '../../src/waiting/waiter.ts'

type Answer = AcquireAnswer | HandOverAnswer

const holdOf = (lease: unknown): Hold => (behind(lease, LocalLease) as LocalLease).hold

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Makes masters for a local lock. The test decides when and how each request is answered. */
function answeredByHand() {
  const asked: string[] = []
  /** The failures of the next releases. */
  const failures: CallFailure[] = []
  const open = new Map<string, (answer: Answer) => void>()
  const ask = (what: string, reply: Reply<never>) => {
    asked.push(what)
    open.set(what, ((answer: never) => reply.answered(answer)) as (answer: Answer) => void)
  }
  const nothing = () => {}
  const remote = {
    acquire: ({ owner }: Attempt, reply: Reply<never>) => ask(`acquire ${owner}`, reply),
    handOver: ({ from, to }: Passing, reply: Reply<never>) =>
      ask(`hand over ${from.owner} to ${to.owner}`, reply),
    lower: ({ owner, holds }: LoweredHold, reply: Reply<Released>) => {
      asked.push(`release ${owner}${holds === 0 ? '' : ` to ${holds}`}`)
      const failure = failures.shift()
      setImmediate(() => {
        if (failure === undefined) reply.answered({ kind: 'freed', others: 0 })
        else reply.failed(failure)
      })
    },
    abandon: nothing,
    listen: () => ({ confirmed: true, stop: nothing }),
  }
  const services = {
    server: { lateAtMostMs: 100, lock: () => remote },
    watchdog: { track: nothing, untrack: nothing, watch: nothing, unwatch: nothing },
    clock: systemClock,
    observer: new ChannelObserver({ client: 'c', label: 'c', notes: undefined }, systemClock),
    limits: {
      clock: systemClock,
      commandTimeoutMs: 2_000,
      outageMs: 5_000,
      patienceMs: () => 5_000,
      words: REDIS_WORDS,
      responseTime: new ResponseTime(),
      whyDown: nothing,
    },
    emit: nothing,
    shortLeases: { check: nothing },
    freeWatches: { listens: () => false },
    revocations: { started: nothing },
    waitReports: { began: nothing, waitEnded: nothing },
    leases: new HeldLeases(),
  } as unknown as Services
  const answer = (what: string, given: Answer) => {
    open.get(what)?.(given)
    return turn()
  }
  const lock = new LocalLock('it', 'it', services, { becameFree: nothing, becameIdle: nothing })
  return { lock, asked, failures, answer }
}

const owners = new Owners('c')
const request = (waitMs: number, signal?: AbortSignal): LeaseRequest => {
  const owner = owners.next()
  return {
    owner,
    leaseMs: 10_000,
    lease: {
      watched: false,
      maxHoldMs: Infinity,
      keepMs: 0,
      leaseHolder: owner,
      scoped: false,
      calledAt: Infinity,
    },
    kind: plainKind,
    waitMs,
    signal,
  }
}

test('two callers do not hand the lock off to one waiter at the same time', async () => {
  const { lock, asked, answer } = answeredByHand()
  const first = acquire(lock, plainKind, request(Infinity))
  await answer('acquire c:1', { kind: 'granted', token: 100 })
  const waiting = acquire(lock, plainKind, request(Infinity))
  void releaseOne(lock, holdOf(await first), 0)
  await turn()
  // Most masters have released the lock, and the client still waits for the last master. Another caller is quicker.
  const quick = acquire(lock, plainKind, request(0))
  await answer('acquire c:3', { kind: 'granted', token: 200 })
  void releaseOne(lock, holdOf(await quick), 0)
  await turn()
  expect(asked).toEqual(['acquire c:1', 'hand over c:1 to c:2', 'acquire c:3', 'release c:3'])
  await answer('hand over c:1 to c:2', { kind: 'granted', token: 300 })
  expect(holdOf(await waiting)).toMatchObject({ token: 300, id: { ownerId: 'c:2' } })
})

test('an abort right after the answer to a hand-off leaves the lock with its caller, or releases the lock', async () => {
  const { lock, asked, answer } = answeredByHand()
  const first = acquire(lock, plainKind, request(Infinity))
  const [one] = asked.map((what) => what.replace('acquire ', ''))
  await answer(`acquire ${one}`, { kind: 'granted', token: 100 })
  const abort = new AbortController()
  const waiting = acquire(lock, plainKind, request(Infinity, abort.signal))
  void releaseOne(lock, holdOf(await first), 0)
  await turn()
  const handOver = asked.find((what) => what.startsWith('hand over')) as string
  void answer(handOver, { kind: 'granted', token: 200 })
  abort.abort(new Error('no longer wanted'))
  const outcome = await waiting.then(
    (lease) => lease,
    () => null,
  )
  await turn()
  // The caller has the lock, or the client releases the lock.
  const two = handOver.split(' ').at(-1)
  expect(outcome !== null || asked.includes(`release ${two}`)).toBe(true)
})

test('a release that is sent again after `close()` still ends the hold', async () => {
  const { lock, asked, failures, answer } = answeredByHand()
  const acquiring = acquire(lock, plainKind, request(Infinity))
  const name = asked[0]?.replace('acquire ', '')
  await answer(`acquire ${name}`, { kind: 'granted', token: 100 })
  const hold = holdOf(await acquiring)
  failures.push(new CallFailure('unsent', 'the connection broke'))
  closeAll([lock], () => new ClosedError('closed'), sendRelease, performance.now(), new Set())
  expect(await releaseOne(lock, hold, 0)).toBe(false)
  await lock.tasks.quiet()
  expect(asked.slice(1)).toEqual([`release ${name}`, `release ${name}`])
})
