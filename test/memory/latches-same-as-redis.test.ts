import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../src/kit/clock.ts'
import { LATCH, OPEN, type RemoteLatch } from '../../src/servers/latch-server.ts'
import { MemoryConnection } from '../../src/servers/memory/memory-connection.ts'
import { OnceRequest } from '../../src/servers/once-request.ts'
import { RedisServer } from '../../src/servers/redis/redis-server.ts'
import { redisKinds, requestsOfKind } from '../support/kinds.ts'
import { CountingServer } from '../support/memory-server.ts'
import { type Random, randomOf } from '../support/random.ts'
import { sharedServer } from '../support/redis-server.ts'

const redis = sharedServer()

const CALL_MS = 5_000
const KEPT_MS = 20_000

/** Longer than the client's possible error about the server's clock on this machine, in milliseconds. */
const BEYOND_DOUBT_MS = 50

type Act = (latch: RemoteLatch, request: OnceRequest) => Promise<unknown>

/** A latch on Redis or in memory. Steps and answers use names that are the same in both places. */
class Stage {
  readonly latch: RemoteLatch
  /** The rounds so far, in order. */
  readonly #rounds: number[] = []
  readonly #requests: [OnceRequest, Act][] = []
  #made = 0

  constructor(latch: RemoteLatch) {
    this.latch = latch
  }

  /** Makes a request, which can then be sent several times. */
  make(act: Act): OnceRequest {
    this.#made += 1
    const request = new OnceRequest(`c:${this.#made}`, KEPT_MS, systemClock)
    this.#requests.push([request, act])
    return request
  }

  ask(act: Act): Promise<unknown> {
    return act(this.latch, this.make(act))
  }

  /** Sends an earlier request again. The request may have run. */
  async askAgain(ago: number): Promise<unknown> {
    const [request, act] = this.#requests.at(-1 - ago) ?? []
    if (request === undefined || act === undefined) return undefined
    request.mayHaveRun = true
    const answer = await act(this.latch, request)
    // Redis does not store a count-down of an open latch. So its repeat finds a round that has ended.
    return answer ?? OPEN
  }

  roundAt(ago: number): number {
    return this.#rounds.at(-1 - ago) ?? 1
  }

  async facts(): Promise<unknown> {
    const { count, waiters, round } = await this.latch.inspect(CALL_MS)
    if (round !== null && !this.#rounds.includes(round)) this.#rounds.push(round)
    return { count, waiters, round: round && this.#rounds.indexOf(round) }
  }

  /** Returns an answer with names that are the same in both places. */
  show(answer: unknown): unknown {
    if (typeof answer !== 'object' || answer === null) return answer
    const { count, round } = answer as { count: number; round: number | null }
    // After the last count-down, one place still knows the round, and the other place knows only that the latch is
    // open.
    return { count, round: count > 0 && round !== null ? this.#rounds.indexOf(round) : null }
  }
}

type Step = (stage: Stage) => Promise<unknown>

function newStep(random: Random): [what: string, step: Step] {
  const [count, ago] = [1 + random.below(3), random.below(3)]
  const round = (stage: Stage) => stage.roundAt(ago)
  const countDown: Act = (latch, request) => latch.countDown(request, CALL_MS)
  const steps: Record<string, Step> = {
    look: (stage) => stage.latch.read(CALL_MS),
    set: (stage) => stage.ask((latch, request) => latch.trySetCount(count, request, CALL_MS)),
    count: (stage) => stage.ask(countDown),
    delete: (stage) => stage.ask((latch, request) => latch.delete(request, CALL_MS)),
    'count in a round': (stage) => {
      const own = round(stage)
      return stage.ask((latch, request) => latch.countDown(request, CALL_MS, own))
    },
    'delete a round': (stage) => {
      const own = round(stage)
      return stage.ask((latch, request) => latch.delete(request, CALL_MS, own))
    },
    'make a request': async (stage) => void stage.make(countDown),
    'send an earlier request': (stage) => stage.askAgain(ago),
  }
  const what = random.of(Object.keys(steps))
  return [`${what} ${count} ${ago}`, steps[what] as Step]
}

test.each(Array.from({ length: Number(process.env.HOLDFAST_SEEDS ?? 10) }, (_, seed) => [seed]))(
  'random requests to a latch get the same answers in memory as in Redis: seed %i',
  async (seed) => {
    const random = randomOf(seed)
    const { host, port } = redis
    const there = new RedisServer({ host, port }, CALL_MS, () => {}, { kinds: redisKinds })
    const here = new MemoryConnection(new CountingServer(), 0)
    const [one, other] = [there, here].map((server) => requestsOfKind(server, LATCH)('it'))
    const stages = [new Stage(one as RemoteLatch), new Stage(other as RemoteLatch)] as const
    const steps: string[] = []
    try {
      // After some answers the client knows the server's clock, even if one answer is late.
      for (let n = 0; n < 10; n++) await stages[0].latch.read(CALL_MS)
      for (let n = 0; n < 60; n++) {
        const [what, step] = newStep(random)
        const [expected, answer] = [await step(stages[0]), await step(stages[1])].map((given, i) =>
          stages[i]?.show(given),
        )
        steps.push(`${what} ${JSON.stringify(expected)}`)
        expect({ steps, answer }).toEqual({ steps, answer: expected })
        const [facts, seen] = await Promise.all(stages.map((stage) => stage.facts()))
        expect({ steps, facts: seen }).toEqual({ steps, facts })
        if (what.startsWith('make')) await pause(BEYOND_DOUBT_MS)
      }
    } finally {
      there.disconnect()
      here.disconnect()
      await redis.flush()
    }
  },
)
