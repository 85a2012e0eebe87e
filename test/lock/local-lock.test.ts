import { systemClock } from '../../src/lease/clock.ts'
import type { Lease } from '../../src/lease/lease.ts'
import { LocalLock } from '../../src/local/local-lock.ts'
import type { Services } from '../../src/local/services.ts'
import { Owners } from '../../src/owner/owners.ts'
import type { Grant } from '../../src/servers/answers.ts'
import { ResponseTime } from '../../src/waiting/response-time.ts'
import type { AcquireRequest } from '../../src/waiting/waiter.ts'
import { deferred } from '../support/deferred.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Masters as a lock sees them; the test says when they answer what. */
function answeredByHand() {
  const asked: string[] = []
  const open = new Map<string, (grant: Grant) => void>()
  const ask = (what: string) => {
    asked.push(what)
    const answer = deferred<Grant>()
    open.set(what, answer.resolve)
    return answer.promise
  }
  const nothing = () => {}
  const server = {
    lateAtMostMs: 100,
    countsListeners: true,
    acquire: (_: unknown, name: string) => ask(`acquire ${name}`),
    handOver: (_: unknown, from: { owner: string }, to: { owner: string }) =>
      ask(`hand over ${from.owner} to ${to.owner}`),
    release: async (_: unknown, name: string) => {
      asked.push(`release ${name}`)
      return { kind: 'freed', listeners: 0 }
    },
    listen: () => ({ confirmed: true, stop: nothing }),
  }
  const services = {
    server,
    watchdog: { track: nothing, untrack: nothing, watch: nothing, unwatch: nothing },
    clock: systemClock,
    pendingReleases: { add: nothing },
    limits: {
      commandTimeoutMs: 2_000,
      outageMs: 5_000,
      responseTime: new ResponseTime(),
      whyDown: nothing,
    },
    emit: nothing,
  } as unknown as Services
  const answer = (what: string, grant: Grant) => {
    open.get(what)?.(grant)
    return turn()
  }
  return { lock: new LocalLock('it', 'it', services, nothing), asked, answer }
}

test('a waiter is not handed the lock by two at once', async () => {
  const { lock, asked, answer } = answeredByHand()
  const owners = new Owners('c')
  const request = (waitMs: number): AcquireRequest => ({
    owner: owners.next(),
    leaseMs: 10_000,
    watched: false,
    fair: false,
    waitMs,
    signal: undefined,
    known: false,
    once: undefined,
    leaseOf: (hold) => ({ hold }) as Lease,
  })
  const first = lock.acquire(request(Infinity))
  await answer('acquire c:1', { kind: 'granted', token: 100 })
  const waiting = lock.acquire(request(Infinity))
  void lock.release(((await first) as Lease).hold, false)
  await turn()
  // Most masters have let it go; the last one is still waited for. Another caller is quick.
  const quick = lock.acquire(request(0))
  await answer('acquire c:3', { kind: 'granted', token: 200 })
  void lock.release(((await quick) as Lease).hold, false)
  await turn()
  expect(asked).toEqual(['acquire c:1', 'hand over c:1 to c:2', 'acquire c:3', 'release c:3'])
  await answer('hand over c:1 to c:2', { kind: 'granted', token: 300 })
  expect(await waiting).toMatchObject({ hold: { token: 300, id: { wireOwner: 'c:2' } } })
})
