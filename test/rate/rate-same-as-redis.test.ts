import type { LockServer } from '../../src/servers/lock-server.ts'
import { MemoryConnection } from '../../src/servers/memory/memory-connection.ts'
import { RATE, type RateGrant, type RemoteRate } from '../../src/servers/rate-server.ts'
import { RedisServer } from '../../src/servers/redis/redis-server.ts'
import { redisKinds, requestsOfKind } from '../support/kinds.ts'
import { CountingServer } from '../support/memory-server.ts'
import { type Random, randomOf } from '../support/random.ts'
import { sharedServer } from '../support/redis-server.ts'

const redis = sharedServer()

const CALL_MS = 5_000

/** Times differ by less than this between the two servers. All intervals are longer. */
const ROUND_US = 300_000_000

/** A rate limiter on Redis or in memory. Its answers have times that are rounded. */
class Stage {
  readonly #rate: RemoteRate
  readonly #grants: RateGrant[] = []

  constructor(server: LockServer) {
    this.#rate = requestsOfKind(server, RATE)('it')
  }

  async acquire(n: number, given: Given, again: boolean): Promise<unknown> {
    const answer = await this.#rate.acquire({ id: `c:${n}`, ...given, again }, CALL_MS)
    if (answer.kind === 'granted' && !again) {
      this.#grants[n] = { id: `c:${n}`, atUs: answer.atUs, cost: given.cost }
    }
    return [answer.kind, Math.round(answer.waitUs / ROUND_US)]
  }

  async giveBack(n: number): Promise<void> {
    const grant = this.#grants[n]
    if (grant !== undefined) await this.#rate.giveBack(grant, CALL_MS)
  }

  async reset(): Promise<void> {
    await this.#rate.reset(CALL_MS)
  }

  async facts(): Promise<unknown> {
    const { waitUs, ...facts } = await this.#rate.inspect(CALL_MS)
    return { ...facts, wait: Math.round(waitUs / ROUND_US) }
  }
}

interface Given {
  readonly permits: number
  readonly perMs: number
  readonly cost: number
  readonly mostMs: number | ''
}

function newGiven(random: Random): Given {
  const permits = 1 + random.below(4)
  return {
    permits,
    perMs: (1 + random.below(3)) * 600_000,
    cost: 1 + random.below(permits),
    mostMs: random.below(2) === 0 ? '' : random.below(8) * 600_000 + 100_000,
  }
}

test.each(Array.from({ length: Number(process.env.HOLDFAST_SEEDS ?? 10) }, (_, seed) => [seed]))(
  'random requests to a rate limiter get the same answers in memory as in Redis: seed %i',
  async (seed) => {
    const random = randomOf(seed)
    const { host, port } = redis
    const options = { kinds: redisKinds, counterMs: CALL_MS }
    const there = new RedisServer({ host, port }, CALL_MS, () => {}, options)
    const here = new MemoryConnection(new CountingServer(), CALL_MS)
    const stages = [new Stage(there), new Stage(here)] as const
    const steps: string[] = []
    try {
      for (let n = 0; n < 60; n++) {
        const [given, other, kind] = [newGiven(random), random.below(n + 1), random.below(9)]
        const [expected, answer] = await Promise.all(
          stages.map(async (stage) => {
            if (kind === 0) await stage.reset()
            else if (kind < 3) await stage.giveBack(other)
            else if (kind < 5) return [await stage.acquire(other, given, true), await stage.facts()]
            else return [await stage.acquire(n, given, false), await stage.facts()]
            return stage.facts()
          }),
        )
        steps.push(`${kind} ${n} ${other} ${JSON.stringify([given, expected])}`)
        expect({ steps, answer }).toEqual({ steps, answer: expected })
      }
    } finally {
      there.disconnect()
      here.disconnect()
      await redis.flush()
    }
  },
)
