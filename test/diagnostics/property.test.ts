import type { AcquireFact, Holdfast, Lease, Lock, Permit } from '../../src/index.ts'
import { createMemoryServer, type MemoryServer } from '../../src/testing.ts'
import { type Random, randomOf } from '../support/random.ts'
import { Recorder, wrongSteps } from './recorder.ts'

/** The result of one call for its caller. */
interface Call {
  readonly facts: readonly AcquireFact[]
  readonly abort: AbortController
  outcome?: 'granted' | 'timeout' | { error: unknown }
  lease?: Lease | Permit
  /** The result of the release. */
  released?: boolean | { error: unknown }
}

const OPERATIONS = 250

/** Calls of some clients on few names, with aborts, losses, forced releases and outages. The seed decides the calls. */
class Storm {
  readonly told = new Recorder()
  readonly calls: Call[] = []
  readonly #random: Random
  readonly #server: MemoryServer = createMemoryServer({ virtualTime: true })
  readonly #clients: Holdfast[]

  constructor(seed: number) {
    this.#random = randomOf(seed)
    const options = { outageMs: 2_000, commandTimeoutMs: 500 }
    this.#clients = ['a', 'b', 'c'].map((label) => this.#server.newClient({ label, ...options }))
  }

  async run(): Promise<void> {
    const [first] = this.#clients as [Holdfast]
    await first.getPermitExpirableSemaphore('quota').trySetPermits(2)
    await first.getSemaphore('slots').trySetPermits(2)
    const owners = new Map(this.#clients.map((client) => [client, client.owner()]))
    for (let n = 0; n < OPERATIONS; n++) {
      const client = this.#random.of(this.#clients)
      const owner = owners.get(client)
      // The same owner re-enters the lock.
      const lockOptions = this.#chance(3) && owner !== undefined ? { owner } : {}
      this.#one(client, lockOptions)
      if (this.#chance(2)) await this.#server.advance(this.#random.below(60))
    }
    // Some runs end in an outage.
    if (this.#chance(2)) this.#server.endOutage()
    const closing = Promise.all(this.#clients.map((client) => client.close()))
    await this.#server.advance(60_000)
    this.#server.endOutage()
    await this.#server.advance(60_000)
    await closing
    await this.#server.advance(60_000)
    this.told.stop()
  }

  #one(client: Holdfast, lockOptions: { owner?: ReturnType<Holdfast['owner']> }): void {
    const name = this.#random.of(['x', 'y'])
    const locks: (() => Lock)[] = [
      () => client.getLock(name, lockOptions),
      () => client.getLock(name, lockOptions),
      () => client.getFairLock(name, lockOptions),
      () => client.getReadWriteLock(`rw:${name}`, lockOptions).readLock(),
      () => client.getReadWriteLock(`rw:${name}`, lockOptions).upgradableLock(),
      () => client.getReadWriteLock(`rw:${name}`, lockOptions).writeLock(),
    ]
    switch (this.#random.below(24)) {
      case 0:
        client.getLock(name).forceUnlock().catch(ignore)
        break
      case 1:
        this.#server.beginOutage()
        break
      case 2:
      case 3:
        this.#server.endOutage()
        break
      case 4:
        this.#random.of([{ abort: new AbortController() }, ...this.calls]).abort.abort()
        break
      case 5:
        this.#lose()
        break
      case 6:
        this.#acquire((signal) =>
          client.getSemaphore('slots').tryAcquire({ ...this.#manner(), signal }),
        )
        break
      case 7:
      case 8:
        this.#acquire((signal) => {
          const { waitMs } = this.#manner()
          return client
            .getPermitExpirableSemaphore('quota')
            .tryAcquire({ ...(waitMs && { waitMs }), signal })
        })
        break
      default: {
        const lock = this.#random.of(locks)()
        const leaseMs = this.#chance(4) ? { leaseMs: 300 } : {}
        this.#acquire((signal) => lock.tryLock({ ...this.#manner(), ...leaseMs, signal }))
      }
    }
  }

  #manner(): { waitMs?: number } {
    const waitMs = this.#random.of([0, 40, 400, 5_000])
    return waitMs === 0 ? {} : { waitMs }
  }

  #acquire(acquire: (signal: AbortSignal) => Promise<Lease | Permit | boolean | null>): void {
    const abort = new AbortController()
    const { result, facts } = this.told.as(() => acquire(abort.signal))
    const call: Call = { facts, abort }
    this.calls.push(call)
    const keepMs = this.#random.of([0, 0, 20, 500, Infinity])
    const settled = async () => {
      try {
        const got = await result
        call.outcome = got ? 'granted' : 'timeout'
        if (got === null || typeof got === 'boolean') return
        call.lease = got
      } catch (error) {
        call.outcome = { error }
        return
      }
      if (keepMs === Infinity) return
      await this.#pause(keepMs)
      try {
        call.released = await call.lease.release()
      } catch (error) {
        call.released = { error }
      }
    }
    void settled()
  }

  #lose(): void {
    const lost = this.calls.find(({ lease }) => lease?.signal.aborted === false)
    try {
      if (lost?.lease !== undefined) this.#server.lose(lost.lease as Lease)
    } catch {
      // It was released, or the server is unreachable.
    }
  }

  async #pause(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 5) await new Promise((resolve) => setImmediate(resolve))
  }

  #chance(oneIn: number): boolean {
    return this.#random.below(oneIn) === 0
  }
}

const ignore = () => {}

/** The outcomes of all seeds. */
const seen = { outcomes: new Set<string>(), paths: new Set<string>(), holds: new Set<string>() }

const SEEDS = Array.from({ length: 12 }, (_, n) => n + 1)

test.each(SEEDS)(
  'each fact has one end and matches the result of its caller, whatever happens (seed %p)',
  async (seed) => {
    const storm = new Storm(seed)
    await storm.run()
    const { told, calls } = storm
    expect(wrongSteps(told)).toEqual([])
    for (const { facts, outcome, lease, abort } of calls) {
      // A call that is refused before its start has no fact.
      if (facts.length === 0) continue
      expect(facts).toHaveLength(1)
      const [fact] = facts as [AcquireFact]
      seen.outcomes.add(fact.outcome ?? 'open')
      if (fact.path !== undefined) seen.paths.add(fact.path)
      if (typeof outcome === 'string') expect(fact.outcome).toBe(outcome)
      else {
        expect(fact.error).toBe(outcome?.error)
        const { code } = fact.error as { code?: string }
        if (abort.signal.aborted && fact.error === abort.signal.reason)
          expect(fact.outcome).toBe('aborted')
        else if (code === 'HOLDFAST_CLOSED') expect(fact.outcome).toBe('closed')
        else if (code === 'HOLDFAST_UNAVAILABLE') expect(fact.outcome).toBe('outage')
        else expect(fact.outcome).toBe('failed')
      }
      expect([fact.path === undefined, fact.token === undefined]).toEqual(
        Array(2).fill(fact.outcome !== 'granted'),
      )
      const holds = told.of('hold').filter(({ acquire }) => acquire === fact)
      const hasHold =
        fact.outcome === 'granted' && fact.path !== 'reentered' && fact.kind !== 'semaphore'
      expect(holds).toHaveLength(hasHold ? 1 : 0)
      if (lease !== undefined) expect(lease.signal).toBeDefined()
      const reason = lease?.signal.reason as { code?: string; reason?: string } | undefined
      // A hold that close() ended may be gone already when the server receives its release.
      if (holds[0] !== undefined && reason?.code === 'HOLDFAST_LEASE_LOST') {
        expect([reason.reason, 'closed']).toContain(holds[0].outcome)
      }
    }
    expect(told.of('hold').every(({ heldMs = -1 }) => heldMs >= 0)).toBe(true)
    for (const { outcome = 'open' } of told.of('hold')) seen.holds.add(outcome)
  },
)

test('all seeds together reach every outcome', () => {
  const ofCalls = ['aborted', 'closed', 'granted', 'outage', 'timeout']
  expect([...seen.outcomes].filter((outcome) => outcome !== 'failed').sort()).toEqual(ofCalls)
  expect([...seen.paths].sort()).toEqual(['free', 'granted', 'local', 'raced', 'reentered'])
  expect([...seen.holds].sort()).toEqual(['closed', 'expired', 'forced', 'gone', 'released'])
})
