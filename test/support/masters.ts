import { setTimeout as pause } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { BIRTH } from '../../src/servers/redis/calls/keys.ts'
import { adminBy, commandOf } from './admin-by.ts'
import { type RedisServer, type StartOptions, startRedis } from './redis-server.ts'

/** The members of a server that contract suites use, for the only server or for all masters of a world. */
export type WorldServer = Pick<RedisServer, 'admin' | 'flush' | 'restart' | 'kill'>

export function startMasters(count: number, options?: StartOptions): Promise<RedisServer[]> {
  return Promise.all(Array.from({ length: count }, () => startRedis(options)))
}

/**
 * Writes the mark of a master that votes, even if this master has just lost its data.
 *
 * @param longestMs the longest lease that the master knows, in milliseconds
 */
export async function letVote({ admin }: RedisServer, longestMs = 60_000): Promise<void> {
  const runId = /run_id:(\w+)/.exec(await admin.info('server'))?.[1] ?? ''
  const replId = /master_replid:(\w+)/.exec(await admin.info('replication'))?.[1] ?? ''
  await admin.set(BIRTH, `0 ${runId} 0 ${replId} ${longestMs}`)
}

/** Several masters, used like one server: each command goes to all masters, and the answer of most masters counts. */
export class AllMasters implements WorldServer {
  readonly #masters: readonly RedisServer[]
  readonly admin: Redis

  constructor(masters: readonly RedisServer[]) {
    this.#masters = masters
    this.admin = adminBy((command, args) => this.#all(command, args))
  }

  /** Deletes all data. The masters vote again at once, as if they had been empty for longer than the longest lease. */
  async flush(): Promise<void> {
    await this.#each((master) => master.flush())
    await this.#each((master) => letVote(master, 120_000))
  }

  /** Restarts all masters. The masters vote again at once, as if they had been up for longer than the longest lease. */
  async restart(): Promise<void> {
    await this.#each((master) => master.restart())
    await this.#each((master) => letVote(master, 120_000))
  }

  async kill(): Promise<void> {
    await this.#each((master) => master.kill())
  }

  async revive(): Promise<void> {
    await this.#each((master) => master.revive())
  }

  #each<T>(what: (master: RedisServer) => Promise<T>): Promise<T[]> {
    return Promise.all(this.#masters.map(what))
  }

  async #all(command: string, args: unknown[]): Promise<unknown> {
    const ask = () =>
      this.#each(async ({ admin }) => withoutBirth(await commandOf(admin, command, args)))
    let answers = await ask()
    // A client needs the answers of a majority only, so the other masters may receive its request a moment later.
    for (let again = 0; again < 10 && LOOKS.has(command) && !areAlike(answers); again++) {
      await pause(20)
      answers = await ask()
    }
    return ofMost(answers)
  }
}

/** Commands that only read. Their answers are equal as soon as all masters have received the same requests. */
const LOOKS = new Set(['exists', 'hgetall', 'hkeys', 'hvals', 'keys'])

function areAlike(answers: readonly unknown[]): boolean {
  return new Set(answers.map(show)).size === 1
}

function withoutBirth(answer: unknown): unknown {
  return Array.isArray(answer) ? answer.filter((one) => one !== BIRTH) : answer
}

/**
 * Returns the middle one of numbers, because times differ a little between masters. Otherwise returns the most frequent
 * answer.
 */
function ofMost(answers: readonly unknown[]): unknown {
  if (answers.every((answer) => typeof answer === 'number')) {
    return [...answers].sort((a, b) => a - b)[Math.floor(answers.length / 2)]
  }
  const alike = (one: unknown) => answers.filter((other) => show(other) === show(one)).length
  return [...answers].sort((a, b) => alike(b) - alike(a))[0]
}

function show(answer: unknown): string {
  return Buffer.isBuffer(answer) ? answer.toString('hex') : JSON.stringify(answer)
}
