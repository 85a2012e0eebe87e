import type { AcquireAnswer, ReenterAnswer } from '../answers.ts'
import type { Attempt, Reentry } from '../lock-server.ts'
import { withCounts } from '../redis/acquire-args.ts'
import type { LockKeys } from '../redis/keys.ts'
import { type Forgot, reentryOf, voteOf, whole } from '../redis/replies.ts'
import type { ScriptServer } from '../redis/script-runner.ts'
import * as scripts from '../redis/scripts.generated.ts'

/** The key that tells since when a master may vote, and as which process of the server. */
export const BIRTH = 'holdfast_birth'

/** @returns whether it has no mark of ever having voted */
export async function isUnused(node: ScriptServer, timeoutMs: number): Promise<boolean> {
  return (await markOf(node, timeoutMs)) === null
}

/** @returns the longest lease that it was told of, in milliseconds; 0 where it knows of none */
export async function longestKnown(node: ScriptServer, timeoutMs: number): Promise<number> {
  const [, ms = 0] = / [0-9a-f]+ (\d+)$/.exec((await markOf(node, timeoutMs)) ?? '') ?? []
  return Number(ms)
}

function markOf(node: ScriptServer, timeoutMs: number): Promise<string | null> {
  return node.runner.raw(timeoutMs, (client) => client.get(BIRTH))
}

/**
 * Asks a master for its vote on a lock, as `acquire` asks a server for the lock.
 *
 * @param longestMs the longest lease that this client takes: the master is to know it first
 * @param onSend called each time that a request is sent
 */
export function askForVote(
  { runner, counterMs }: ScriptServer,
  keys: LockKeys,
  { owner, leaseMs, reserve, callMs }: Attempt,
  longestMs: number,
  onSend: () => void,
): Promise<AcquireAnswer | Forgot> {
  const args = (notAfterUs: number) => {
    onSend()
    const needed = [owner, leaseMs, notAfterUs, counterMs, BIRTH, longestMs]
    return withCounts(needed, 1, reserve, undefined)
  }
  return runner.runInTime(scripts.vote, keys.both, args, callMs, voteOf)
}

/** Asks a master for one more acquisition of a hold, as `reenter` asks a server. */
export function reenterByVote(
  { runner, counterMs }: ScriptServer,
  keys: LockKeys,
  { owner, leaseMs, holds, token, callMs }: Reentry,
  longestMs: number,
): Promise<ReenterAnswer> {
  const args = (notAfterUs: number) =>
    withCounts([owner, leaseMs, notAfterUs, counterMs, BIRTH, longestMs], holds, 0, token)
  return runner.runInTime(scripts.vote, keys.both, args, callMs, reentryOf)
}

/**
 * Tells a master since when it votes, unless it has been told.
 *
 * @param restMs how long the longest lease may be: one that may have forgotten rests so long
 * @param newborn whether none of the masters has ever been used
 */
export async function enrol(
  node: ScriptServer,
  restMs: number | Promise<number>,
  newborn: boolean,
  timeoutMs: number,
): Promise<void> {
  const endsAt = performance.now() + timeoutMs
  const durable = await node.runner.raw(timeoutMs, async (client) => {
    const [info, config] = await Promise.all([
      client.info('persistence').catch(() => ''),
      client.config('GET', 'appendfsync').catch(() => []),
    ])
    return /aof_enabled:1/.test(info) && (config as unknown[]).flat().includes('always')
  })
  const longestMs = await restMs
  const args = () => [node.runner.runId, longestMs, durable ? 1 : 0, newborn ? 1 : 0]
  const leftMs = Math.max(1, endsAt - performance.now())
  await node.runner.run(scripts.enrol, [BIRTH], args, leftMs, whole)
}
