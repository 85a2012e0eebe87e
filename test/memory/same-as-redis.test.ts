import { setTimeout as pause } from 'node:timers/promises'
import type { FairGrant, FairServer } from '../../src/servers/fair-server.ts'
import { FAIR } from '../../src/servers/fair-server.ts'
import type { LockServer } from '../../src/servers/lock-server.ts'
import { MemoryConnection } from '../../src/servers/memory/memory-connection.ts'
import { grantChannel } from '../../src/servers/records/fair-grants.ts'
import { INBOX } from '../../src/servers/redis/calls/keys.ts'
import { RedisServer } from '../../src/servers/redis/redis-server.ts'
import type { Remaining } from '../../src/servers/remaining.ts'
import type { Passing } from '../../src/servers/requests.ts'
import type { Subscription } from '../../src/servers/subscription.ts'
import { eventually } from '../support/eventually.ts'
import { redisKinds, requestsOfKind } from '../support/kinds.ts'
import { CountingServer } from '../support/memory-server.ts'
import { ALIVE_MS, CLAIM_MS } from '../support/promised-times.ts'
import { type Random, randomOf } from '../support/random.ts'
import { sharedServer } from '../support/redis-server.ts'
import { fairVerbsOf, verbsOf } from '../support/verbs.ts'

const redis = sharedServer()

const CALL_MS = 5_000
const LEASE_MS = 60_000
const LONGER_MS = 90_000
const COUNTER_MS = 3_600_000
const SHORTEST_CLAIM_MS = 700
const CLIENTS = ['a', 'b', 'c']
const LOCKS = ['one', 'two']

/** Numbers such as tokens, which differ between the places. Each is replaced by the order of its first appearance. */
class Numbered {
  readonly #all: number[] = []

  /** 0 stays 0, and so does NaN. */
  indexOf(value: number): number {
    if (value === 0) return 0
    if (!this.#all.includes(value)) this.#all.push(value)
    return this.#all.indexOf(value) + 1
  }

  at(index: number): number {
    return this.#all[index - 1] ?? 1
  }
}

/** Three clients on Redis or in memory. Steps and answers use names that are the same in both places. */
class Stage {
  readonly servers: readonly LockServer[]
  readonly fair: readonly FairServer[]
  readonly tokens = new Numbered()
  readonly tickets = new Numbered()
  readonly grants: unknown[] = []
  readonly #releases = new Map<string, Subscription>()
  readonly #inboxes = new Map<number, Subscription>()

  readonly #heard: (client: string) => Promise<number>

  /** @param heard returns how many connections listen for the grants of a client */
  constructor(newServer: () => LockServer, heard: (client: string) => Promise<number>) {
    this.#heard = heard
    this.servers = CLIENTS.map(newServer)
    this.fair = this.servers.map((server, n) => requestsOfKind(server, FAIR, CLIENTS[n] as string))
  }

  /** Returns an answer with names that are the same in both places. */
  show(answer: unknown): unknown {
    if (Array.isArray(answer)) return answer.map((one) => this.show(one))
    if (typeof answer !== 'object' || answer === null) return answer
    const shown: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(answer)) {
      if (key === 'token' || key === 'lastToken') {
        shown[key] = value === null ? null : this.tokens.indexOf(value)
      } else if (key === 'ticket') shown[key] = this.tickets.indexOf(Number(value))
      else if (key === 'ttlMs') shown[key] = aboutMs(value)
      else if (key === 'ageMs') shown[key] = value === null ? null : 'an age'
      else if (key === 'waitedMs') shown[key] = value >= 0
      else if (key === 'reserved') shown[key] = value ?? 0
      else shown[key] = this.show(value)
    }
    if (shown.kind === 'granted') shown.reserved ??= 0
    return shown
  }

  async listen(client: number, rawName: string): Promise<void> {
    const name = `${client} ${rawName}`
    const before = this.#releases.get(name)
    if (before !== undefined) {
      before.stop()
      this.#releases.delete(name)
      // The unsubscription goes over another connection than the next request.
      return eventuallyListened(this, rawName, this.#listeningTo(rawName))
    }
    const server = this.servers[client] as LockServer
    const subscription = server.lock(rawName).listen(() => {})
    this.#releases.set(name, subscription)
    await eventually(() => subscription.confirmed)
  }

  #listeningTo(rawName: string): number {
    return [...this.#releases.keys()].filter((name) => name.endsWith(` ${rawName}`)).length
  }

  listens(client: number): boolean {
    return this.#inboxes.has(client)
  }

  /** Starts to listen for grants, or stops. */
  async hear(client: number): Promise<void> {
    const before = this.#inboxes.get(client)
    if (before !== undefined) {
      before.stop()
      this.#inboxes.delete(client)
      await eventually(async () => (await this.#heard(CLIENTS[client] as string)) === 0)
      return
    }
    const onGrant = (grant?: FairGrant) => {
      if (grant !== undefined) this.grants.push(this.show(grant))
    }
    const subscription = (this.fair[client] as FairServer).listen(onGrant)
    await eventually(() => subscription.confirmed)
    this.#inboxes.set(client, subscription)
  }

  close(): void {
    for (const server of this.servers) server.disconnect()
  }
}

async function eventuallyListened(stage: Stage, rawName: string, count: number): Promise<void> {
  const [server] = stage.servers as [LockServer]
  await eventually(async () => {
    const facts = await server.lock(rawName).inspect(CALL_MS)
    return (
      new Set(facts.queue.map(({ owner }) => owner.split(':')[0])).size > count ||
      facts.waiters === count
    )
  })
}

/** Returns the lease of which this remaining time is a part, because little time has passed. */
function aboutMs(ttlMs: Remaining | null): string | number | null {
  if (typeof ttlMs !== 'number' || ttlMs === Infinity) return ttlMs
  const leaseMs = [CLAIM_MS, LEASE_MS, LONGER_MS].find((ms) => ttlMs <= ms) ?? 'too much'
  return leaseMs === LEASE_MS || leaseMs === LONGER_MS ? `of ${leaseMs} ms` : 'of a claim'
}

const MAY_FREE: readonly (readonly [Passing['mayFree'], boolean])[] = [
  ['never', false],
  ['forOthers', false],
  ['forOthers', true],
  ['always', true],
]

type Step = (stage: Stage) => Promise<unknown>

/** Returns one random request, or a related action. It is the same in both places. */
function newStep(random: Random): [what: string, step: Step] {
  const client = random.below(CLIENTS.length)
  const rawName = random.of(LOCKS)
  const ownerOf = (n: number) => `${CLIENTS[n]}:${1 + random.below(3)}`
  const owner = ownerOf(client)
  const [other, holds, reserve] = [ownerOf(client), 1 + random.below(3), random.of([0, 0, 63])]
  const [recent, isLast] = [random.below(4), random.below(4) > 0]
  const [mayFree, listens] = random.of(MAY_FREE)
  const isBlank = random.below(6) === 0
  const isTry = random.below(5) === 0
  const claimMs = random.of([1_500, 1_500, SHORTEST_CLAIM_MS])
  const most = random.of([0, 1, 63])
  const served = random.below(4) === 0 ? [other] : []
  const lock = (stage: Stage) => (stage.servers[client] as LockServer).lock(rawName)
  const verbs = (stage: Stage) => verbsOf(lock(stage))
  const fairLock = (stage: Stage) => fairVerbsOf((stage.fair[client] as FairServer).lock(rawName))
  /** Returns the last token of the lock, or an earlier token. */
  const tokenOf = async (stage: Stage) => {
    const { token } = await lock(stage).peek(CALL_MS)
    if (token === null) return 1
    return isLast ? token : stage.tokens.at(Math.max(1, stage.tokens.indexOf(token) - recent))
  }
  const ticketOf = (stage: Stage) => stage.tickets.at(1 + recent)
  const steps: Record<string, Step> = {
    acquire: (stage) =>
      verbs(stage).acquire({ owner, leaseMs: LEASE_MS, reserve, callMs: CALL_MS }),
    'acquire again': async (stage) => {
      const attempt = { owner, leaseMs: LEASE_MS, reserve, callMs: CALL_MS }
      return [await verbs(stage).acquire(attempt), await verbs(stage).acquire(attempt)]
    },
    'acquire, and let it run out': async (stage) => {
      const granted = await verbs(stage).acquire({ owner, leaseMs: 40, reserve, callMs: CALL_MS })
      if (granted.kind === 'granted') await pause(60)
      return granted.kind
    },
    reenter: async (stage) => {
      const token = await tokenOf(stage)
      const request = { owner, token, holds, leaseMs: LEASE_MS, callMs: CALL_MS }
      return [await verbs(stage).reenter(request), await verbs(stage).reenter(request)]
    },
    release: async (stage) => {
      const token = isBlank ? '' : await tokenOf(stage)
      return verbs(stage).release({ owner, holds: 0, token, callMs: CALL_MS })
    },
    lower: async (stage) => {
      const token = await tokenOf(stage)
      return verbs(stage).release({ owner, holds, token, callMs: CALL_MS })
    },
    'hand over': async (stage) => {
      if (owner === other) return
      const from = { owner, token: await tokenOf(stage) }
      const to = { owner: other, leaseMs: LEASE_MS }
      const passing = { from, to, mayFree, listens, reserve, callMs: CALL_MS }
      return [await verbs(stage).handOver(passing), await verbs(stage).handOver(passing)]
    },
    'force release': async (stage) => {
      const seen = await lock(stage).seen(CALL_MS)
      if (seen === null) return null
      const token = isBlank ? null : await tokenOf(stage)
      return [seen, await lock(stage).forceRelease({ ...seen, token }, CALL_MS)]
    },
    renew: async (stage) => {
      const leases = LOCKS.map((rawName) => ({ rawName, ownerId: owner }))
      const server = stage.servers[client] as LockServer
      const left = await server.renew(leases, isBlank ? 0 : LONGER_MS, CALL_MS)
      return left.map((ms) => aboutMs(ms as Remaining))
    },
    'acquire all': (stage) => {
      const locks = [
        { rawName: 'one', owner },
        { rawName: 'two', owner: other },
      ]
      const server = stage.servers[client] as Required<LockServer>
      return server.acquireAll(locks, LEASE_MS, CALL_MS)
    },
    listen: (stage) => stage.listen(client, rawName),
    hear: (stage) => stage.hear(client),
    'queue up': (stage) =>
      fairLock(stage).acquire({
        owner,
        leaseMs: isBlank ? claimMs : LEASE_MS,
        ticket: isTry ? null : '',
        listens: () => stage.listens(client),
        callMs: CALL_MS,
      }),
    'come again': (stage) =>
      fairLock(stage).acquire({
        owner,
        leaseMs: LEASE_MS,
        ticket: String(ticketOf(stage)),
        listens: () => stage.listens(client),
        callMs: CALL_MS,
      }),
    confirm: async (stage) =>
      aboutMs(await fairLock(stage).confirm(owner, isBlank ? LEASE_MS : LONGER_MS, CALL_MS)),
    'release in turn': async (stage) => {
      const token = isBlank ? '' : await tokenOf(stage)
      return fairLock(stage).release(owner, token, CALL_MS, { most, served })
    },
    beat: (stage) => {
      const place = { ownerId: owner, ticket: String(ticketOf(stage)), claimMs }
      // Only one lock: if Redis grants several locks in one step, their tokens can be equal.
      const places = [{ rawName, places: () => (isBlank ? [] : [place]) }]
      const fair = stage.fair[client] as FairServer
      return fair.beat(places, () => stage.listens(client), CALL_MS)
    },
  }
  const what = random.of(Object.keys(steps))
  return [`${what} ${rawName} ${owner}`, steps[what] as Step]
}

/** Returns what all clients can see of the locks. */
async function factsOf(stage: Stage): Promise<unknown> {
  const [server] = stage.servers as [LockServer]
  const locks = LOCKS.map((name) => server.lock(name))
  const looks = locks.flatMap((lock) => [lock.inspect(CALL_MS), lock.peek(CALL_MS)])
  return stage.show(await Promise.all(looks))
}

/** Confirms all grants, so that no claim window ends in only one of the places. */
async function confirm({ servers: [server] }: Stage): Promise<void> {
  for (const key of LOCKS) {
    const { holder, ttlMs } = (await server?.lock(key).peek(CALL_MS)) ?? {}
    if (!holder || !ttlMs || ttlMs > CLAIM_MS) continue
    await server?.renew([{ rawName: key, ownerId: holder }], LEASE_MS, CALL_MS)
  }
}

/** Returns the same stage on Redis and in memory. */
function newStages(): readonly [Stage, Stage] {
  const memory = new CountingServer()
  const { host, port } = redis
  const options = { counterMs: COUNTER_MS, kinds: redisKinds }
  return [
    new Stage(
      () => new RedisServer({ host, port }, CALL_MS, () => {}, options),
      async (client) => (await redis.admin.pubsub('NUMSUB', INBOX + client))[1] as number,
    ),
    new Stage(
      () => new MemoryConnection(memory, COUNTER_MS),
      async (client) => memory.messages.count(grantChannel(client)),
    ),
  ]
}

test.each(
  (['never', 'forOthers', 'always'] as const).flatMap((mayFree) =>
    [false, true].flatMap((listens) =>
      [0, 1, 2].map((listeners) => [mayFree, listens, listeners] as const),
    ),
  ),
)(
  'a hand-over that may free the lock "%s" frees it in memory as in Redis: own listener %s, %i listeners',
  async (mayFree, listens, listeners) => {
    const stages = newStages()
    const answers: unknown[] = []
    for (const stage of stages) {
      for (let client = 0; client < listeners; client++) await stage.listen(client, 'one')
      const verbs = verbsOf((stage.servers[0] as LockServer).lock('one'))
      const reserve = 0
      const granted = await verbs.acquire({
        owner: 'a:1',
        leaseMs: LEASE_MS,
        reserve,
        callMs: CALL_MS,
      })
      const from = { owner: 'a:1', token: (granted as { token: number }).token }
      const to = { owner: 'a:2', leaseMs: LEASE_MS }
      const passing = { from, to, mayFree, listens, reserve, callMs: CALL_MS }
      answers.push(stage.show(await verbs.handOver(passing)))
      stage.close()
    }
    await redis.flush()
    expect(answers[1]).toEqual(answers[0])
  },
)

test.each(Array.from({ length: Number(process.env.HOLDFAST_SEEDS ?? 10) }, (_, seed) => [seed]))(
  'random requests to locks get the same answers in memory as in Redis: seed %i',
  async (seed) => {
    const random = randomOf(seed)
    const stages = newStages()
    const [there, here] = stages
    const steps: string[] = []
    try {
      const startedAt = performance.now()
      // The sequence ends before places without a heartbeat expire.
      for (let n = 0; n < 60 && performance.now() - startedAt < ALIVE_MS / 2; n++) {
        const [what, step] = newStep(random)
        const from = performance.now()
        const [expected, answer] = [there.show(await step(there)), here.show(await step(here))]
        const [facts, found] = [await factsOf(there), await factsOf(here)]
        // On a slow machine, a claim window may have ended in only one of the places.
        if (performance.now() - from > SHORTEST_CLAIM_MS - 100) return
        steps.push(`${what} ${JSON.stringify(expected)}`)
        expect({ steps, answer }).toEqual({ steps, answer: expected })
        expect({ steps, facts: found }).toEqual({ steps, facts })
        await Promise.all(stages.map(confirm))
      }
      await eventually(() => there.grants.length === here.grants.length)
      expect(here.grants).toEqual(there.grants)
    } finally {
      for (const stage of stages) stage.close()
      await redis.flush()
    }
  },
)
