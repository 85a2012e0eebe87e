import { CallFailure, failureOf } from './failure.ts'
import type { Client } from './open.ts'

/** The oldest server that the scripts run on. */
const OLDEST = [6, 2] as const

/** What is known of the server behind a connection that is up. */
export interface ServerFacts {
  /** Of its version; NaN when it does not tell. */
  readonly major: number
  /** The id of its process; '' when it does not tell. */
  readonly runId: string
  /**
   * The server's clock less `performance.now()` at the most, in milliseconds; NaN when it does not
   * tell. It is at least `clockDoubtMs` less.
   */
  readonly clockOffsetMs: number
  /** How long the server's answer was under way, in milliseconds. */
  readonly clockDoubtMs: number
}

/**
 * Asks what must be known before the first command: the server's age and its clock.
 *
 * @returns rejects when the server is too old
 */
export async function askFacts(client: Client): Promise<ServerFacts> {
  const sentAt = performance.now()
  const [info, time] = await Promise.all([
    unlessForbidden(client.info('server')),
    unlessForbidden(client.time()),
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

/** A user whose rights do not reach INFO or TIME can have locks all the same. */
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
