import { setImmediate as turn } from 'node:timers/promises'
import type { Released } from '../../src/servers/answers.ts'
import { FAIR } from '../../src/servers/fair-server.ts'
import type { LockServer } from '../../src/servers/lock-server.ts'
import { MemoryConnection } from '../../src/servers/memory/memory-connection.ts'
import { permitIds } from '../../src/servers/permit-ids.ts'
import type { PermitAnswer, PermitAttempt, RemotePool } from '../../src/servers/permit-pool.ts'
import type { PermitServer } from '../../src/servers/permit-server.ts'
import { PERMITS } from '../../src/servers/permit-server.ts'
import type { ReadWriteServer } from '../../src/servers/read-write-server.ts'
import { READ_WRITE } from '../../src/servers/read-write-server.ts'
import { RedisServer } from '../../src/servers/redis/redis-server.ts'
import { promised, type Reply } from '../../src/servers/reply.ts'
import type { SemaphoreServer } from '../../src/servers/semaphore-server.ts'
import { SEMAPHORE } from '../../src/servers/semaphore-server.ts'
import type { Subscription } from '../../src/servers/subscription.ts'
import { eventually } from '../support/eventually.ts'
import { redisKinds, requestsOfKind } from '../support/kinds.ts'
import { CountingServer } from '../support/memory-server.ts'
import { type Random, randomOf } from '../support/random.ts'
import { sharedServer } from '../support/redis-server.ts'
import { fairVerbsOf, verbsOf } from '../support/verbs.ts'
import { shownFailure } from './fixtures/shown-failure.ts'

const CALL_MS = 5_000
/** As long as ids of real clients, so that Redis recognizes their locks. */
const CLIENTS = ['a', 'b', 'c'].map((letter) => letter.repeat(21))

/** A slow machine compares fewer requests than planned, but not fewer than this. */
const LEAST_STEPS = 10

/** The time that passes in one step. No time limit ends shortly after a number of such steps. */
const STEP_MS = 1_750
const [LEASE_MS, LONGER_MS, TTL_MS, KEPT_MS, COUNTER_MS] = [
  5_000, 61_000, 10_000, 10_000, 3_600_000,
]
/** The real time that a sequence may take: shorter than the time from such a step to the next time limit. */
const [SOON_MS, ENOUGH_MS] = [300, 500]

/** The longest time of one sequence. Redis forgets answered requests after twice this time. */
const MOST_MS = 700

/** The largest expected difference between times from clocks that are read one after the other. */
const DIFFERENCE_MS = 200

const redis = sharedServer()

/** Makes everything in Redis older by ARGV[1] ms, as if this time had passed. */
const OLDER = `
  local ms = tonumber(ARGV[1])
  local function less(text, by) return string.format('%.0f', text - by) end
  for _, key in ipairs(redis.call('KEYS', '*')) do
    local ttlMs = redis.call('PTTL', key)
    if ttlMs >= 0 then
      redis.call('PEXPIRE', key, ttlMs - ms)
    end
    local kind = redis.call('TYPE', key).ok
    if kind == 'zset' then
      local by = string.find(key, 'queue') and ms * 1000 or ms
      local found = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
      for i = 1, #found, 2 do
        redis.call('ZADD', key, less(found[i + 1], by), found[i])
      end
    elseif kind == 'hash' and string.find(key, 'holders') then
      local found = redis.call('HGETALL', key)
      for i = 1, #found, 2 do
        local owner, sinceUs = string.match(found[i + 1], '^(.*) (%d+)$')
        redis.call('HSET', key, found[i], owner .. ' ' .. less(sinceUs, ms * 1000))
      end
    elseif kind == 'hash' and string.find(key, 'waiters') then
      local found = redis.call('HGETALL', key)
      for i = 1, #found, 2 do
        local untilMs, permits = string.match(found[i + 1], '^(%d+) (%d+)$')
        redis.call('HSET', key, found[i], less(untilMs, ms) .. ' ' .. permits)
      end
    elseif kind == 'string' then
      -- Only a time in µs is so large: the last token of a lock, or since when a reader has its lock.
      local timeUs = tonumber(redis.call('GET', key))
      if timeUs and timeUs > 1e15 then
        redis.call('SET', key, less(timeUs, ms * 1000), 'KEEPTTL')
      end
    end
  end
`

/** Three clients on Redis or in memory. Steps and answers use names that are the same in both places. */
class Stage {
  readonly servers: readonly LockServer[]
  readonly permits: readonly PermitServer[]
  readonly plain: readonly SemaphoreServer[]
  readonly readWrite: readonly ReadWriteServer[]
  /** How often each client was told that it is next, and how often all clients were told. */
  readonly told = CLIENTS.map(() => ({ next: 0, all: 0 }))
  #tokens: string[] = []
  #since: string[] = []
  /** True if a step took so long that its effect may differ between the places. */
  isLate = false
  readonly #listening = new Map<number, Subscription>()

  constructor(newServer: () => LockServer) {
    this.servers = CLIENTS.map(newServer)
    const id = (n: number) => CLIENTS[n] as string
    this.permits = this.servers.map((one, n) => requestsOfKind(one, PERMITS, id(n)))
    this.plain = this.servers.map((one, n) => requestsOfKind(one, SEMAPHORE, id(n)))
    this.readWrite = this.servers.map((one, n) => requestsOfKind(one, READ_WRITE, id(n)))
  }

  pool(client: number) {
    return (this.permits[client] as PermitServer).pool('it')
  }

  semaphore(client: number) {
    return (this.plain[client] as SemaphoreServer).semaphore('it')
  }

  lock(client: number) {
    return (this.servers[client] as LockServer).lock('it')
  }

  /** Returns the start of a wait from an earlier answer. */
  sinceAt(index: number): string {
    return this.#since.at(-1 - index) ?? ''
  }

  /** Makes the known times older, in the place whose clock does not move. */
  makeOlder(ms: number): void {
    const older = (timeUs: string) => String(Number(timeUs) - ms * 1_000)
    this.#since = this.#since.map(older)
    this.#tokens = this.#tokens.map(older)
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
      if (key === 'token') shown[key] = value && numberIn(this.#tokens, String(value))
      else if (key === 'waitId') shown[key] = value && numberIn(this.#since, String(value))
      else if (key === 'acquired') shown[key] = this.show(value.sort(byId))
      else if (key !== 'reserved') shown[key] = this.show(value)
    }
    return shown
  }

  async listen(client: number, pool: RemotePool): Promise<void> {
    const before = this.#listening.get(client)
    if (before !== undefined) {
      before.stop()
      this.#listening.delete(client)
      return
    }
    const told = this.told[client] as { next: number; all: number }
    const subscription = pool.listen(({ kind }) => {
      if (kind === 'turn') told.next += 1
      else if (kind === 'released') told.all += 1
    })
    await eventually(() => subscription.confirmed)
    this.#listening.set(client, subscription)
  }

  get listeners(): number {
    return this.#listening.size
  }

  /** Returns how often the listening clients were told, in total. */
  get toldAll(): number {
    return this.told.reduce((sum, { all }) => sum + all, 0)
  }

  close(): void {
    for (const server of this.servers) server.disconnect()
  }
}

/** Tokens and times differ between the places, so each is replaced by the order of its first appearance. */
function numberIn(known: string[], value: string): string {
  if (!known.includes(value)) known.push(value)
  return `no. ${known.indexOf(value)}`
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1
}

/** Returns the same answer, but with the times of the other answer if the times hardly differ. */
function withTimesOf(expected: unknown, answer: unknown, key = ''): unknown {
  if (Array.isArray(answer) && Array.isArray(expected)) {
    return answer.map((one, n) => withTimesOf(expected[n], one, key))
  }
  if (typeof answer === 'number' && typeof expected === 'number') {
    const isTime = key.endsWith('Ms') || answer > 1_000
    return isTime && answer >= 0 && expected >= 0 && Math.abs(answer - expected) < DIFFERENCE_MS
      ? expected
      : answer
  }
  if (typeof answer !== 'object' || answer === null || typeof expected !== 'object') return answer
  const of = (expected ?? {}) as Record<string, unknown>
  const all = Object.entries(answer).map(([name, one]) => [name, withTimesOf(of[name], one, name)])
  return Object.fromEntries(all)
}

/** The inspection of either kind of semaphore. */
interface Looked {
  inspect(most: number, callMs: number): Promise<unknown>
}

type Step = (stage: Stage) => Promise<unknown>

/** The main subject of a sequence. Other steps are rare. */
const LEANINGS = ['permits', 'plain', 'both'] as const

/** Returns one random request, or a related action. It is the same in both places. */
function newStep(random: Random, leaning: (typeof LEANINGS)[number]): [string, Step] {
  const client = random.below(CLIENTS.length)
  const permits = 1 + random.below(3)
  const owner = `${CLIENTS[client]}:${1 + random.below(2)}:${permits}`
  const request = `r${random.below(3)}`
  const leaseMs = random.of([LEASE_MS, LONGER_MS])
  const waitedMs = random.of([0, 0, 10_000, 20_000])
  const attempt: Omit<PermitAttempt, 'waitId' | 'beganAt'> = {
    owner,
    permits,
    leaseMs,
    reserve: 0,
    callMs: CALL_MS,
    waits: random.below(3) > 0,
    isLast: random.below(3) > 0,
  }
  const sinceAt = random.of([undefined, undefined, 0, 1, 2])
  const [isLast, flag] = [random.below(2) === 0, random.below(2) === 0]
  const [count, ttlMs] = [random.below(6), random.of([0, TTL_MS])]
  const what = random.of(['set', 'set', 'add', 'add', 'drain', 'drain', 'delete'] as const)
  const how = random.of([
    ...(['try-set', 'try-set', 'set', 'set', 'add', 'add', 'drain', 'drain'] as const),
    'delete' as const,
  ])
  const limit = random.of([undefined, undefined, 4, 6])
  const isPermit = leaning === 'both' ? flag : leaning === 'permits'
  const ask = <A>(send: (reply: Reply<A>) => void) => promised<A>(send)
  const poolOf = (stage: Stage): RemotePool & Looked =>
    isPermit ? stage.pool(client) : stage.semaphore(client)
  const behind = random.of([undefined, { permits: 1 + random.below(3), waitedMs }])
  const attemptAt = (stage: Stage): PermitAttempt => ({
    ...attempt,
    beganAt: performance.now() - waitedMs,
    waitId: sinceAt === undefined ? '' : stage.sinceAt(sinceAt),
    limit,
    behind: attempt.isLast
      ? undefined
      : behind && { ...behind, beganAt: performance.now() - behind.waitedMs },
  })
  const acquire = (stage: Stage) => ask((reply) => poolOf(stage).acquire(attemptAt(stage), reply))
  const ending = { owner, holds: 0, token: '', callMs: CALL_MS } as const
  const from = { ...ending, owner: `${CLIENTS[client]}:${1 + random.below(2)}:${permits}` }
  /** One request with two answers. */
  const handOver = (stage: Stage) => {
    const to = { ...attemptAt(stage), waits: true }
    let released: Promise<unknown> = Promise.resolve()
    const acquired = ask<PermitAnswer>((reply) => {
      if (isPermit) {
        released = ask<Released>((one) => stage.pool(client).handOver?.(from, to, one, reply))
      } else {
        const change = { id: request, permits, ifExists: flag }
        released = stage.semaphore(client).addAndAcquire(change, to, reply)
      }
    })
    return Promise.all([released, acquired])
  }
  const release = (stage: Stage) => ask((reply) => poolOf(stage).giveBack(ending, isLast, reply))
  const change = (stage: Stage) => {
    const by = count - (what === 'add' && how === 'add' ? 2 : 0)
    const given = { id: request, request, keptMs: KEPT_MS, permits: by, ttlMs, what, how }
    return isPermit
      ? stage.pool(client).change(given, CALL_MS)
      : stage.semaphore(client).change(given, CALL_MS)
  }
  const add = (stage: Stage) =>
    stage.semaphore(client).add({ id: request, permits, ifExists: flag }, CALL_MS)
  const idCount = 1 + random.below(permits)
  const releaseIds = (stage: Stage) => {
    const ids = permitIds(owner, permits).slice(0, idCount)
    return stage
      .pool(client)
      .releaseIds(ids, { request: `ids ${request}`, keptMs: KEPT_MS }, CALL_MS)
  }
  const again = (step: Step) => async (stage: Stage) => [await step(stage), await step(stage)]
  const renew: Step = (stage) => {
    const leases = [1, 2, 3].map((n) => ({ rawName: 'it', ownerId: owner.slice(0, -1) + n }))
    const server = stage.permits[client] as PermitServer
    return server.renew(leases, isLast ? LONGER_MS : 0, CALL_MS)
  }
  const usual: Record<string, Step> = {
    acquire,
    'acquire ': acquire,
    'acquire  ': acquire,
    'acquire again': again(acquire),
    release,
    'release again': again(release),
    'hand over': handOver,
    'hand over ': handOver,
    'hand over again': again(handOver),
    change,
    'change again': again(change),
    ...(isPermit
      ? { renew, 'renew ': renew, releaseIds }
      : { add, 'add ': add, 'add again': again(add) }),
    abandon: async (stage) => {
      const untilMs = flag ? performance.now() + 2 : 0
      poolOf(stage).abandon(owner, untilMs, leaseMs, () => isLast)
      // If `untilMs` has not passed, the permits are given back now, and once more later.
      if (flag && performance.now() >= untilMs) stage.isLate = true
      await stage.servers[client]?.quiet()
    },
    leave: async (stage) => {
      poolOf(stage).stopWaiting(() => true)
      await stage.servers[client]?.quiet()
      // The server answers later requests later, so all earlier requests have run.
      await stage.servers[client]?.identify(CALL_MS)
    },
    look: (stage) => poolOf(stage).inspect(2, CALL_MS),
    listen: (stage) => stage.listen(client, poolOf(stage)),
  }
  const name = `${CLIENTS[client]}:9`
  const taking = { owner: name, leaseMs: LEASE_MS, reserve: 0, callMs: CALL_MS }
  const freeing = { owner: name, holds: 0, token: '', callMs: CALL_MS } as const
  const fair = (stage: Stage) => {
    const server = requestsOfKind(stage.servers[client] as LockServer, FAIR, CLIENTS[client])
    return fairVerbsOf(server.lock('it'))
  }
  const readWrite = (stage: Stage) => (stage.readWrite[client] as ReadWriteServer).lock('it')
  const rare: Record<string, Step> = {
    'acquire a lock': (stage) => verbsOf(stage.lock(client)).acquire(taking),
    'release a lock': (stage) => verbsOf(stage.lock(client)).release(freeing),
    'release a lock ': (stage) => verbsOf(stage.lock(client)).release(freeing),
    'renew a lock': (stage) =>
      (stage.servers[client] as LockServer).renew(
        [{ rawName: 'it', ownerId: name }],
        LEASE_MS,
        CALL_MS,
      ),
    'peek at a lock': (stage) => stage.lock(client).peek(CALL_MS),
    'force a lock': (stage) =>
      stage.lock(client).forceRelease({ owner: name, token: null }, CALL_MS),
    'acquire several locks': (stage) =>
      stage.servers[client]?.acquireAll?.(
        [{ rawName: 'it', owner: name }],
        LEASE_MS,
        CALL_MS,
      ) as Promise<unknown>,
    'acquire a fair lock': (stage) =>
      fair(stage).acquire({ ...taking, ticket: null, listens: () => false }),
    'release a fair lock': (stage) => fair(stage).release(name, '', CALL_MS),
    read: (stage) => {
      const reading = { ...taking, beside: '', waits: false, isLast: true }
      return ask((reply) => readWrite(stage).read(reading, reply))
    },
    'release a read-write lock': (stage) =>
      ask((reply) => readWrite(stage).lower(freeing, true, reply)),
    'inspect a read-write lock': (stage) => readWrite(stage).inspect(CALL_MS),
  }
  const steps = random.below(12) === 0 ? rare : usual
  const chosen = random.of(Object.keys(steps))
  const { waits } = attempt
  const more = { isPermit, owner, request, leaseMs, waits, last: attempt.isLast, waitedMs, sinceAt }
  const rest = { isLast, flag, count, ttlMs, what, how, limit }
  return [`${chosen} ${JSON.stringify({ ...more, ...rest })}`, steps[chosen] as Step]
}

/** Waits for all messages until now: a message that is published now arrives after them. */
async function settled([there, here]: readonly [Stage, Stage]) {
  if (there.listeners > 0) {
    const all = there.toldAll + there.listeners
    await redis.admin.publish('redisson_sc:{it}', '7')
    await eventually(() => there.toldAll === all)
  }
  await turn()
  await turn()
  return [there, here].map(({ told }) => told.map(({ next }) => next))
}

/** Everything that can be seen of both kinds of semaphores. */
const look: Step = (stage) =>
  Promise.all([stage.pool(0).inspect(1_000, CALL_MS), stage.semaphore(0).inspect(1_000, CALL_MS)])

/** Waits until all clients listen, because subscriptions go over another connection than the next request. */
async function heard({ listeners }: Stage): Promise<void> {
  await eventually(async () => {
    const channels = ['redisson_sc:{it}', 'holdfast_tickets:{it}']
    const counts = (await redis.admin.pubsub('NUMSUB', ...channels)) as (string | number)[]
    return Number(counts[1]) === listeners && Number(counts[3]) === listeners
  })
}

/**
 * Compares random requests. Ends early on a slow machine, because a time limit may then have ended in only one place.
 *
 * @returns the number of requests whose answers were compared
 */
async function compared(seed: number): Promise<number> {
  const random = randomOf(seed)
  const leaning = LEANINGS[seed % LEANINGS.length] as (typeof LEANINGS)[number]
  let aheadMs = 0
  // The clock has µs, as in Redis. So two waits never start at the same time in only one of the places.
  const memory = new CountingServer(() => performance.timeOrigin + performance.now() + aheadMs)
  const options = { counterMs: COUNTER_MS, kinds: redisKinds }
  const { host, port } = redis
  const stages = [
    new Stage(() => new RedisServer({ host, port }, CALL_MS, () => {}, options)),
    new Stage(() => new MemoryConnection(memory, COUNTER_MS)),
  ] as const
  const [there, here] = stages
  const steps: string[] = []
  let count = 0
  /** @returns true if both places have answered in time */
  const compare = async (what: string, step: Step, isOver: () => boolean) => {
    const from = performance.now()
    const [expected, answer] = [await there.does(step), await here.does(step)]
    if (isOver() || performance.now() - from > DIFFERENCE_MS) return false
    if (stages.some(({ isLate }) => isLate)) return false
    steps.push(`${what} ${JSON.stringify(expected)}`)
    expect({ steps, answer: withTimesOf(expected, answer) }).toEqual({ steps, answer: expected })
    return true
  }
  try {
    for (const { servers } of stages) {
      await Promise.all(servers.map((server) => server.identify(CALL_MS)))
    }
    const startedAt = performance.now()
    let passedAt = startedAt
    const passedMs = () => Math.round(performance.now() - passedAt)
    const isOver = () => passedMs() > ENOUGH_MS || performance.now() > startedAt + 2 * MOST_MS
    for (let n = 0; n < 80 && performance.now() - startedAt < MOST_MS; n++) {
      if (random.below(6) === 0 || passedMs() > SOON_MS) {
        const ms = STEP_MS - passedMs()
        passedAt = performance.now()
        await redis.admin.eval(OLDER, 0, ms)
        there.makeOlder(ms)
        aheadMs += ms
        steps.push('later')
      }
      const [what, step] = newStep(random, leaning)
      if (!(await compare(what, step, isOver))) return count
      if (what.startsWith('listen')) await heard(there)
      const [isAlike, [expected, told]] = await Promise.all([
        compare('then', look, isOver),
        settled(stages),
      ])
      if (!isAlike || isOver()) return count
      expect({ steps, told }).toEqual({ steps, told: expected })
      steps.pop()
      count += 1
    }
    return count
  } finally {
    for (const stage of stages) stage.close()
    await redis.flush()
  }
}

const seeds = Number(process.env.HOLDFAST_SEEDS ?? 8)

test.each(Array.from({ length: seeds }, (_, seed) => [seed]))(
  'random requests to semaphores get the same answers in memory as in Redis at any time: seed %i',
  async (seed) => {
    let most = 0
    for (let tries = 0; tries < 20 && most < LEAST_STEPS; tries++) {
      most = Math.max(most, await compared(seed))
    }
    expect(most).toBeGreaterThanOrEqual(LEAST_STEPS)
  },
)
