import {
  type Begun,
  type Finished,
  JOB,
  type JobFacts,
  type JobOutcome,
  type JobServer,
  type JobStart,
  type RemoteJob,
  type StoredRun,
} from '../job-server.ts'
import { runOf } from '../stored-run.ts'
import type { KindScripts, RedisKind } from './calls/redis-kind.ts'
import { jobKeys } from './key-names/job.ts'
import * as scripts from './scripts/job.generated.ts'
import { pairs } from './scripts/reading.ts'

class RedisJob implements RemoteJob {
  readonly #server: KindScripts
  readonly #keys: ReturnType<typeof jobKeys>

  constructor(server: KindScripts, rawName: string, isOnce: boolean) {
    this.#server = server
    this.#keys = jobKeys(rawName, isOnce)
  }

  async startRun(start: JobStart, callMs: number): Promise<Begun> {
    const given = () => ({ ...start, waitedMs: Math.floor(start.waitedMs()) })
    const answer = await this.#server.runner.request(scripts.begin, this.#keys, given, callMs)
    if (answer.kind === 'begun') {
      const { kind, startedUs, missed, earlier } = answer
      return { kind, startedUs, missed, crashed: runOf(earlier) }
    }
    return answer.kind === 'lost' ? answer : { ...answer, run: runOf(answer.run) as StoredRun }
  }

  finishRun(outcome: JobOutcome, callMs: number): Promise<Finished> {
    return this.#server.runner.request(scripts.finish, this.#keys, outcome, callMs)
  }

  async inspect(most: number, callMs: number): Promise<JobFacts> {
    const { runner } = this.#server
    const answer = await runner.request(scripts.inspect, this.#keys, { most }, callMs)
    const { nowUs, isHeld, run, runs } = answer
    const ended = runs.map(([, json]) => runOf(pairs(JSON.parse(json))) as StoredRun)
    return { nowUs, isHeld, run: runOf(run), ended }
  }
}

export const redisJob: RedisKind = {
  kind: JOB,
  type: 'hash',
  open:
    (server): JobServer =>
    (rawName, isOnce) =>
      new RedisJob(server, rawName, isOnce),
}
