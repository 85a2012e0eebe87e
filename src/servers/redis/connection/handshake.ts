import type { Redis } from 'ioredis'
import { withoutFullStop } from '../../../kit/without-full-stop.ts'
import type { ConnectionEvents } from '../../availability/connection-events.ts'
import { CallFailure } from '../../call-failure.ts'
import { failureOf, refusal } from './failure-of.ts'
import {
  connectionNameOf,
  databaseOf,
  isCluster,
  type RedisClient,
  type RedisSource,
} from './open-client.ts'

/** The values that a new connection reads from its server. */
export interface ServerDetails {
  /** The major version; NaN if unknown. */
  readonly major: number
  /** The id of the server's process; '' if the server does not report an id. */
  readonly runId: string
  /**
   * The largest possible value of the server's clock minus `performance.now()`, in milliseconds;
   * NaN if unknown. The smallest possible value is `clockDoubtMs` lower.
   */
  readonly clockOffsetMs: number
  /** How long the server's answer took, in milliseconds. */
  readonly clockDoubtMs: number
}

/** The events of a connection to Redis. */
export type RedisEvents = ConnectionEvents<ServerDetails>

/** The oldest server version that can run the scripts. */
const OLDEST = [6, 2] as const

/**
 * Reads the version and the clock of the server, before the first command. Selects the database,
 * because ioredis stays in database 0 if its own SELECT is refused. Sets the user's name for the
 * connection.
 *
 * @returns the facts; rejects if the server is too old, or if it refuses the database
 */
export async function readServerDetails(
  client: RedisClient,
  source: RedisSource,
): Promise<ServerDetails> {
  const sentAt = performance.now()
  const database = databaseOf(source)
  const name = connectionNameOf(source)
  if (name !== undefined) client.client('SETNAME', name).catch(() => {}) // Ignores a failure, as ioredis does.
  const selected =
    database === 0 || isCluster(client) ? undefined : select(client as Redis, database)
  const [info, time] = await Promise.all([
    unlessForbidden(client.info('server')),
    unlessForbidden(client.time()),
    selected,
  ])
  const clockDoubtMs = performance.now() - sentAt
  const [, major, minor, patch] = /redis_version:(\d+)\.(\d+)(\S*)/.exec(info ?? '') ?? []
  if (isOlder(Number(major), Number(minor))) {
    throw new CallFailure(
      'unsupported',
      `the server is Redis ${major}.${minor}${patch}; Holdfast needs 6.2 or later`,
    )
  }
  return {
    major: Number(major),
    runId: /run_id:(\w+)/.exec(info ?? '')?.[1] ?? '',
    clockOffsetMs: time === undefined ? Number.NaN : serverMs(time) - sentAt,
    clockDoubtMs,
  }
}

async function select(client: Redis, database: number): Promise<void> {
  try {
    await client.select(database)
  } catch (error) {
    const failure = failureOf(error)
    if (failure.kind !== 'refused') throw failure
    const cure = failure.message.startsWith('NOPERM') ? ': it needs the right to SELECT' : ''
    throw refusal(
      `${withoutFullStop(failure.message)} (the login cannot use database ${database}${cure})`,
      error,
    )
  }
}

/**
 * Returns undefined if the login may not use the command, or the server is still loading its data.
 * Locks also work without the rights to INFO and TIME.
 */
async function unlessForbidden<T>(reply: Promise<T>): Promise<T | undefined> {
  try {
    return await reply
  } catch (error) {
    const { message } = failureOf(error)
    if (message.startsWith('NOPERM') || message.startsWith('LOADING')) return undefined
    throw error
  }
}

function isOlder(major: number, minor: number): boolean {
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])
}

function serverMs(time: readonly (number | string)[]): number {
  return Number(time[0]) * 1_000 + Number(time[1]) / 1_000
}
