import type { JobFacts, RemoteJob, StoredRun } from '../../src/servers/job-server.ts'
import { JOB } from '../../src/servers/job-server.ts'
import type { LockServer } from '../../src/servers/lock-server.ts'
import { MemoryConnection } from '../../src/servers/memory/memory-connection.ts'
import { RedisServer } from '../../src/servers/redis/redis-server.ts'
import { redisKinds, requestsOfKind } from '../support/kinds.ts'
import { CountingServer } from '../support/memory-server.ts'
import { type Random, randomOf } from '../support/random.ts'
import { sharedServer } from '../support/redis-server.ts'
import { verbsOf } from '../support/verbs.ts'

const redis = sharedServer()

const CALL_MS = 5_000
const LONG_MS = 600_000

/** A job on Redis or in memory. Its answers use tokens that are the same in both places, and no times. */
class Stage {
  readonly #server: LockServer
  readonly #job: RemoteJob
  /** The tokens of the holds so far, in order. */
  readonly #tokens: number[] = []

  constructor(server: LockServer) {
    this.#server = server
    this.#job = requestsOfKind(server, JOB)('it', false)
  }

  #owner(ago: number): string {
    return `c:${this.#tokens.length - ago}`
  }

  #token(ago: number): number {
    return this.#tokens.at(-1 - ago) ?? 1
  }

  /** The next owner acquires the lock. The last owner may have lost the lock without a release. */
  async acquire(): Promise<unknown> {
    const lock = this.#server.lock('it')
    await lock.forceRelease({ owner: this.#owner(0), token: null }, CALL_MS)
    const owner = `c:${this.#tokens.length + 1}`
    const terms = { leaseMs: LONG_MS, reserve: 0, callMs: CALL_MS }
    const answer = await verbsOf(lock).acquire({ owner, ...terms })
    if (answer.kind === 'granted') this.#tokens.push(answer.token)
    return answer.kind
  }

  async startRun(ago: number, given: Given): Promise<unknown> {
    const { calledMs, ...terms } = given
    const answer = await this.#job.startRun(
      {
        owner: this.#owner(ago),
        token: this.#token(ago),
        by: 'it',
        ...terms,
        waitedMs: () => calledMs,
        keepMs: LONG_MS,
      },
      CALL_MS,
    )
    if (answer.kind === 'lost') return answer
    if (answer.kind === 'served') return { ...answer, run: this.#show(answer.run) }
    return { ...answer, startedUs: 0, crashed: this.#show(answer.crashed) }
  }

  async finishRun(ago: number, forgets: boolean, mostRuns: number): Promise<unknown> {
    const outcome = forgets
      ? ({ state: 'failed', result: '', error: 'Error: no' } as const)
      : ({ state: 'done', result: '{"a":[1]}', error: '' } as const)
    const token = this.#token(ago)
    const more = { token, forgets, keepMs: LONG_MS, mostRuns }
    return (await this.#job.finishRun({ ...outcome, ...more }, CALL_MS)).kind
  }

  async facts(most: number): Promise<unknown> {
    const { run, isHeld, ended }: JobFacts = await this.#job.inspect(most, CALL_MS)
    return { run: this.#show(run), isHeld, ended: ended.map((each) => this.#show(each)) }
  }

  #show(run: StoredRun | null): unknown {
    if (run === null) return null
    const { token, owner, by, state, endedUs, missed, tick, everyMs, result, error } = run
    const hasEnded = endedUs !== undefined
    const n = this.#tokens.indexOf(token)
    return { n, owner, by, state, hasEnded, missed, tick, everyMs, result, error }
  }
}

interface Given {
  readonly atLeastMs: number
  readonly everyMs: number
  readonly tick: number | ''
  readonly repeats: boolean
  /** How long ago the call began; below 0, it counts as if it began later. */
  readonly calledMs: number
  readonly mostRuns: number
}

type Step = (stage: Stage) => Promise<unknown>

function newStep(random: Random, mostRuns: number): [what: string, step: Step] {
  const ago = random.below(5) === 0 ? 1 : 0
  const given = {
    atLeastMs: random.below(2) * LONG_MS,
    everyMs: random.below(2) * LONG_MS,
    tick: random.below(2) === 0 ? random.below(4) : ('' as const),
    repeats: random.below(2) === 0,
    calledMs: (random.below(3) - 1) * 2 * LONG_MS,
    mostRuns,
  }
  const [forgets, most] = [random.below(4) === 0, random.below(4)]
  const steps: Record<string, Step> = {
    acquire: (stage) => stage.acquire(),
    start: (stage) => stage.startRun(ago, given),
    'start twice': async (stage) => [
      await stage.startRun(ago, given),
      await stage.startRun(ago, given),
    ],
    finish: (stage) => stage.finishRun(ago, forgets, mostRuns),
    inspect: (stage) => stage.facts(most),
  }
  const what = random.of(Object.keys(steps))
  return [`${what} ${ago} ${JSON.stringify(given)} ${forgets}`, steps[what] as Step]
}

test.each(Array.from({ length: Number(process.env.HOLDFAST_SEEDS ?? 10) }, (_, seed) => [seed]))(
  'random requests to a job get the same answers in memory as in Redis: seed %i',
  async (seed) => {
    const random = randomOf(seed)
    const { host, port } = redis
    const options = { kinds: redisKinds, counterMs: LONG_MS }
    const there = new RedisServer({ host, port }, CALL_MS, () => {}, options)
    const here = new MemoryConnection(new CountingServer(), LONG_MS)
    const stages = [new Stage(there), new Stage(here)] as const
    const mostRuns = random.below(4)
    const steps: string[] = []
    try {
      for (let n = 0; n < 80; n++) {
        const [what, step] = newStep(random, mostRuns)
        const [expected, answer] = [await step(stages[0]), await step(stages[1])]
        steps.push(`${what} ${JSON.stringify(expected)}`)
        expect({ steps, answer }).toEqual({ steps, answer: expected })
        const [facts, seen] = [await stages[0].facts(9), await stages[1].facts(9)]
        expect({ steps, facts: seen }).toEqual({ steps, facts })
      }
    } finally {
      there.disconnect()
      here.disconnect()
      await redis.flush()
    }
  },
)
