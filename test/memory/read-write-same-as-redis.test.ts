import { setTimeout as pause } from 'node:timers/promises'
import type { Hint } from '../../src/servers/hint.ts'
import type { LockServer } from '../../src/servers/lock-server.ts'
import { MemoryConnection } from '../../src/servers/memory/memory-connection.ts'
import { sideId } from '../../src/servers/owner-id.ts'
import type { ReadWriteServer } from '../../src/servers/read-write-server.ts'
import { READ_WRITE } from '../../src/servers/read-write-server.ts'
import { RedisServer } from '../../src/servers/redis/redis-server.ts'
import type { Remaining } from '../../src/servers/remaining.ts'
import { promised, type Reply } from '../../src/servers/reply.ts'
import type { Subscription } from '../../src/servers/subscription.ts'
import { eventually } from '../support/eventually.ts'
import { redisKinds, requestsOfKind } from '../support/kinds.ts'
import { CountingServer } from '../support/memory-server.ts'
import { CLAIM_MS, WAITING_MS } from '../support/promised-times.ts'
import { type Random, randomOf } from '../support/random.ts'
import { sharedServer } from '../support/redis-server.ts'
import { verbsOf } from '../support/verbs.ts'
import { shownFailure } from './fixtures/shown-failure.ts'

const redis = sharedServer()

const CALL_MS = 5_000
const [LEASE_MS, LONGER_MS, COUNTER_MS] = [60_000, 90_000, 3_600_000]
const CLIENTS = ['a', 'b', 'c']

/** A slow machine compares fewer requests than planned, but not fewer than this. */
const LEAST_STEPS = 10

/** If the machine is too slow, the comparison is repeated up to this often. */
const MOST_TRIES = 30

/** Three clients on Redis or in memory. Steps and answers use names that are the same in both places. */
class Stage {
  readonly servers: readonly LockServer[]
  readonly readWrite: readonly ReadWriteServer[]
  /** The messages to all listeners. */
  readonly messages: string[] = []
  readonly #numbers: string[] = []
  readonly #listening = new Map<number, Subscription>()

  constructor(newServer: () => LockServer) {
    this.servers = CLIENTS.map(newServer)
    this.readWrite = this.servers.map((server, n) =>
      requestsOfKind(server, READ_WRITE, CLIENTS[n] as string),
    )
  }

  lock(client: number) {
    return (this.readWrite[client] as ReadWriteServer).lock('it')
  }

  /** Tokens and times differ between the places, so each is replaced by the order of its first appearance. */
  number(value: string): string {
    if (value.length < 10) return value
    if (!this.#numbers.includes(value)) this.#numbers.push(value)
    return `no. ${this.#numbers.indexOf(value)}`
  }

  tokenAt(index: number): number {
    return Number(this.#numbers[index] ?? 1)
  }

  async does(step: Step): Promise<unknown> {
    try {
      return this.show(await step(this))
    } catch (failure) {
      return shownFailure(failure)
    }
  }

  show(answer: unknown): unknown {
    if (Array.isArray(answer)) return answer.map((one) => this.show(one))
    if (typeof answer !== 'object' || answer === null) return answer
    const shown: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(answer)) {
      if (key === 'token' || key === 'waitId') shown[key] = value && this.number(String(value))
      else if (key === 'ttlMs') shown[key] = aboutMs(value)
      else if (key === 'holder') shown[key] = value === '' ? '' : 'one of them'
      // The answer is about one of several holders. This holder may be dead, and then has no age.
      else if (key === 'ageMs' && 'holder' in answer) shown[key] = 'an age or none'
      else if (key === 'ageMs') shown[key] = value === null ? null : 'an age'
      else if (key === 'waitedMs') shown[key] = value === null ? 'before all' : value >= 0
      else if (key === 'holders') shown[key] = this.show(value.sort(byOwner))
      else if (key !== 'reserved') shown[key] = this.show(value)
    }
    return shown
  }

  async listen(client: number): Promise<void> {
    const before = this.#listening.get(client)
    if (before !== undefined) {
      before.stop()
      this.#listening.delete(client)
      return
    }
    const onHint = (hint: Hint) => {
      if (hint.kind === 'turn') this.messages.push(`${client}: turn of ${this.number(hint.of)}`)
      else if (hint.kind === 'released') this.messages.push(`${client}: ${JSON.stringify(hint)}`)
    }
    const subscription = this.lock(client).listen(onHint)
    await eventually(() => subscription.confirmed)
    this.#listening.set(client, subscription)
  }

  get listeners(): number {
    return this.#listening.size
  }

  close(): void {
    for (const server of this.servers) server.disconnect()
  }
}

function byOwner(a: { owner: string }, b: { owner: string }): number {
  return a.owner < b.owner ? -1 : 1
}

/** Returns the lease of which this remaining time is a part, because little time has passed. */
function aboutMs(ttlMs: Remaining | null): string | number | null {
  if (typeof ttlMs !== 'number' || ttlMs === Infinity) return ttlMs
  const most = [0, CLAIM_MS, LEASE_MS, LONGER_MS].find((ms) => ttlMs <= ms) ?? 'too much'
  return `of ${most} ms`
}

type Step = (stage: Stage) => Promise<unknown>

/** Returns one random request, or a related action. It is the same in both places. */
function newStep(random: Random): [what: string, step: Step] {
  const client = random.below(CLIENTS.length)
  const name = `${CLIENTS[client]}:${1 + random.below(2)}`
  // No other attempt has this name.
  const other = `${name}:other`
  const writer = sideId(name, 'write')
  const upgradable = sideId(name, 'upgradable')
  const owner = random.of([name, name, upgradable, writer])
  const reader = random.of([name, name, upgradable])
  const [holds, leaseMs] = [2 + random.below(2), random.of([LEASE_MS, LONGER_MS])]
  const [waits, isLast] = [random.below(3) > 0, random.below(3) > 0]
  const beside = random.below(2) === 0
  const token = random.of(['', 'last', 'last', 'other'] as const)
  const at = random.below(8)
  const ask = <A>(send: (reply: Reply<A>) => void) => promised<A>(send)
  const terms = { leaseMs, reserve: 0, callMs: CALL_MS, waits, isLast }
  const tokenOf = async (stage: Stage) => {
    if (token !== 'last') return stage.tokenAt(at)
    return (await stage.lock(client).inspect(CALL_MS)).token ?? 1
  }
  const read = (stage: Stage) =>
    ask((reply) =>
      stage.lock(client).read({ ...terms, owner: reader, beside: beside ? writer : '' }, reply),
    )
  const write = (stage: Stage) =>
    ask((reply) =>
      stage
        .lock(client)
        .write({ ...terms, owner: writer, beside: beside ? upgradable : '' }, reply),
    )
  const release = async (stage: Stage) => {
    const ending = { owner, holds: 0, token: token && (await tokenOf(stage)), callMs: CALL_MS }
    return ask((reply) => stage.lock(client).lower(ending, isLast, reply))
  }
  const plain = (stage: Stage) => (stage.servers[client] as LockServer).lock('it')
  const steps: Record<string, Step> = {
    read,
    write,
    release,
    'read ': read,
    'write ': write,
    'release ': release,
    'read again': async (stage) => [await read(stage), await read(stage)],
    'write again': async (stage) => [await write(stage), await write(stage)],
    'read, and let it run out': async (stage) => {
      const attempt = { ...terms, leaseMs: 40, owner: reader, beside: '' }
      const answer = await ask((reply) => stage.lock(client).read(attempt, reply))
      await pause(60)
      return { ...(answer as object), ttlMs: null }
    },
    'write, and let it run out': async (stage) => {
      const attempt = { ...terms, leaseMs: 40, owner: writer, beside: '' }
      const answer = await ask((reply) => stage.lock(client).write(attempt, reply))
      await pause(60)
      return { ...(answer as object), ttlMs: null }
    },
    'read once more': async (stage) => {
      const reentry = { owner: reader, holds, token: 0, leaseMs, callMs: CALL_MS }
      return ask((reply) => stage.lock(client).rereads(reentry, reply))
    },
    'write once more': async (stage) => {
      const reentry = { owner: writer, holds, leaseMs, callMs: CALL_MS }
      const token = await tokenOf(stage)
      return ask((reply) => stage.lock(client).rewrites({ ...reentry, token }, reply))
    },
    lower: async (stage) => {
      const ending = { owner, holds: holds - 1, token: '', callMs: CALL_MS } as const
      return ask((reply) => stage.lock(client).lower(ending, isLast, reply))
    },
    force: (stage) => stage.lock(client).forceRelease(owner, CALL_MS),
    renew: async (stage) => {
      const leases = [name, upgradable, writer].map((ownerId) => ({ rawName: 'it', ownerId }))
      const server = stage.readWrite[client] as ReadWriteServer
      const left = await server.renew(leases, isLast ? LONGER_MS : 0, CALL_MS)
      return left.map((ms) => aboutMs(ms as Remaining))
    },
    listen: (stage) => stage.listen(client),
    'acquire another kind': (stage) =>
      verbsOf(plain(stage)).acquire({ owner: other, leaseMs, reserve: 0, callMs: CALL_MS }),
    'release another kind': (stage) =>
      verbsOf(plain(stage)).release({ owner: other, holds: 0, token: '', callMs: CALL_MS }),
    'renew another kind': async (stage) => {
      const leases = [{ rawName: 'it', ownerId: other }]
      const left = await (stage.servers[client] as LockServer).renew(leases, LEASE_MS, CALL_MS)
      return left.map((ms) => aboutMs(ms as Remaining))
    },
    'peek at another kind': (stage) => plain(stage).peek(CALL_MS),
  }
  const what = random.of(Object.keys(steps))
  const more = JSON.stringify({ reader, owner, beside, waits, isLast, token, at })
  return [`${what} ${more}`, steps[what] as Step]
}

/** Waits for all messages until now: a message that is published now arrives after them. */
async function settled(stages: readonly [Stage, Stage], publish: () => Promise<number>) {
  const [there] = stages
  const before = there.messages.length
  const told = await publish()
  await eventually(
    () => there.messages.slice(before).filter((m) => m.endsWith('end')).length === told,
  )
  return stages.map(({ messages }) => messages.filter((m) => !m.endsWith('end')).sort())
}

/**
 * Compares random requests. Ends early on a slow machine, because a time limit may then have ended in only one place.
 *
 * @returns the number of requests whose answers were compared
 */
async function compared(seed: number): Promise<number> {
  const random = randomOf(seed)
  const memory = new CountingServer()
  const { host, port } = redis
  const options = { counterMs: COUNTER_MS, kinds: redisKinds }
  const stages = [
    new Stage(() => new RedisServer({ host, port }, CALL_MS, () => {}, options)),
    new Stage(() => new MemoryConnection(memory, COUNTER_MS)),
  ] as const
  const [there, here] = stages
  const steps: string[] = []
  try {
    // The time for the comparison starts when all clients are connected.
    for (const { servers } of stages) {
      await Promise.all(servers.map((server) => server.identify(CALL_MS)))
    }
    // After this time, a time limit may have ended in only one of the places.
    const endsAt = performance.now() + Math.min(CLAIM_MS, WAITING_MS)
    for (let n = 0; n < 80 && performance.now() < endsAt - 300; n++) {
      const [what, step] = newStep(random)
      const [expected, answer] = [await there.does(step), await here.does(step)]
      if (performance.now() > endsAt) return steps.length
      steps.push(`${what} ${JSON.stringify(expected)}`)
      expect({ steps, answer }).toEqual({ steps, answer: expected })
      const inspect: Step = (stage) => stage.lock(0).inspect(CALL_MS)
      const [facts, found] = [await there.does(inspect), await here.does(inspect)]
      if (performance.now() > endsAt) return steps.length
      expect({ steps, facts: found }).toEqual({ steps, facts })
      // Subscriptions go over another connection than the next request.
      const channel = 'redisson_rwlock:{it}'
      await eventually(async () => {
        const [, count] = (await redis.admin.pubsub('NUMSUB', channel)) as [string, number]
        return count === there.listeners
      })
    }
    const publish = () => redis.admin.publish('redisson_rwlock:{it}', 'end')
    const [expected, told] = await settled(stages, publish)
    expect({ steps, told }).toEqual({ steps, told: expected })
    return steps.length
  } finally {
    for (const stage of stages) stage.close()
    await redis.flush()
  }
}

test.each(Array.from({ length: Number(process.env.HOLDFAST_SEEDS ?? 10) }, (_, seed) => [seed]))(
  'random requests to a read-write lock get the same answers in memory as in Redis: seed %i',
  async (seed) => {
    let most = 0
    for (let tries = 0; tries < MOST_TRIES && most < LEAST_STEPS; tries++) {
      most = Math.max(most, await compared(seed))
    }
    expect(most).toBeGreaterThanOrEqual(LEAST_STEPS)
  },
)
