import { BIRTH } from '../../redis/calls/keys.ts'
import type { ScriptServer } from '../../redis/calls/script-runner.ts'
import * as quorum from '../../redis/scripts/quorum.generated.ts'

/**
 * The masters that have voted, or may have voted, as far as this process knows. A master stays in
 * this set even if it loses its data.
 */
const used = new WeakSet<ScriptServer>()

export function noteUse(node: ScriptServer): void {
  used.add(node)
}

export function isUsed(node: ScriptServer): boolean {
  return used.has(node)
}

/**
 * `none`: the master has no mark. `claimed`: a client has claimed the master for a new deployment
 * that is not founded yet. `known`: the master has any other mark, so the master may have voted.
 */
export type MarkState = 'none' | 'claimed' | 'known'

export async function stateOfMark(node: ScriptServer, timeoutMs: number): Promise<MarkState> {
  const mark = await markOf(node, timeoutMs)
  if (mark === null) return 'none'
  return /^\d+ [^ /]*\/[^ /]+ /.test(mark) ? 'claimed' : 'known'
}

/** @returns the longest lease in the mark of the master, in milliseconds; 0 if there is none */
export async function longestKnown(node: ScriptServer, timeoutMs: number): Promise<number> {
  const [, ms = 0] = / [0-9a-f]+ (\d+)$/.exec((await markOf(node, timeoutMs)) ?? '') ?? []
  return Number(ms)
}

interface RestartMark {
  /**
   * True if the mark contains the current replication id of the server. If false, a client must
   * first enrol the master again.
   */
  readonly isOwn: boolean
  /** The time until the master votes, in milliseconds; 0 means that the master votes now. */
  readonly restsForMs: number
}

/**
 * Reads the mark of the master.
 *
 * @param longestMs the longest lease that this client acquires, in milliseconds
 */
export async function ownMark(
  node: ScriptServer,
  longestMs: number,
  timeoutMs: number,
): Promise<RestartMark> {
  const [mark, [seconds, micros], info] = await node.runner.raw(timeoutMs, (client) =>
    Promise.all([client.get(BIRTH), client.time(), client.info('replication')]),
  )
  const [, sinceUs, replId = '', longest] =
    /^(\d+) \S* \d ([0-9a-f]+) (\d+)$/.exec(mark ?? '') ?? []
  const isOwn = replId !== '' && info.includes(`master_replid:${replId}`)
  if (!isOwn) return { isOwn, restsForMs: Math.max(longestMs, Number(longest ?? 0)) }
  const nowUs = Number(seconds) * 1_000_000 + Number(micros)
  return { isOwn, restsForMs: Math.max(0, Math.ceil((Number(sinceUs) - nowUs) / 1_000)) }
}

function markOf(node: ScriptServer, timeoutMs: number): Promise<string | null> {
  return node.runner.raw(timeoutMs, (client) => client.get(BIRTH))
}

/**
 * @returns true if the server writes each change to disk before it answers; false if it does not,
 * or if this is unknown
 */
export function isDurable(node: ScriptServer, timeoutMs: number): Promise<boolean> {
  return node.runner.raw(timeoutMs, async (client) => {
    const [info, config] = await Promise.all([
      client.info('persistence').catch(() => ''),
      client.config('GET', 'appendfsync').catch(() => []),
    ])
    return /aof_enabled:1/.test(info) && (config as unknown[]).flat().includes('always')
  })
}

/**
 * Stores in the mark of the master from when the master may vote.
 *
 * @param restMs for how long a master does not vote after it may have lost its data, in
 * milliseconds
 */
export async function enrol(
  node: ScriptServer,
  restMs: number | Promise<number>,
  timeoutMs: number,
): Promise<void> {
  const endsAt = performance.now() + timeoutMs
  const durable = await isDurable(node, timeoutMs)
  const given = { restMs: await restMs, durable }
  const leftMs = Math.max(1, endsAt - performance.now())
  await node.runner.request(quorum.enrol, { birth: BIRTH }, given, leftMs)
}
