import type { Released } from '../../answers.ts'
import { permitsOf } from '../../owner-id.ts'
import { permitHolders } from '../../permit-holders.ts'
import type { PermitAnswer } from '../../permit-pool.ts'
import type { PermitFacts } from '../../permit-server.ts'
import { converted } from '../scripts/convert.ts'
import * as scripts from '../scripts/permits.generated.ts'
import { odd } from '../scripts/reading.ts'

export const acquire = converted(scripts.acquire, permitAnswer)
/** The script itself wakes the next client, so `others` is 0. */
export const release = converted(
  scripts.release,
  ({ kind }): Released => (kind === 'freed' ? { kind, others: 0 } : { kind }),
)
export const change = converted(scripts.set, ({ permits }) => permits)
/** The answer has two parts: the answer to the release, and the answer to the attempt. */
export const handOver = converted(scripts.handOver, (answer): [Released, PermitAnswer] => {
  return [answer.wasTaken ? { kind: 'freed', others: 0 } : { kind: 'gone' }, permitAnswer(answer)]
})
export const { releaseIds, renew } = scripts
export const inspect = converted(scripts.inspect, permitFacts)

function permitAnswer(answer: scripts.AcquireReply): PermitAnswer {
  if (answer.kind === 'too-many') {
    const { available, taken } = answer
    return { kind: 'tooMany', available, taken }
  }
  if (answer.kind === 'granted') {
    const { kind, token, inAll } = answer
    return inAll === null ? { kind, token } : { kind, token, inAll }
  }
  const { ttlMs, since, available, taken, nowUs } = answer
  const seenIf = (isSet: boolean) => {
    return { isSet, available, taken, holders: holdersIn(answer.holders, nowUs) }
  }
  if (answer.kind === 'held') {
    return { kind: answer.kind, ttlMs, waitId: since, seen: seenIf(answer.isSet) }
  }
  const { token, inAll, isFirst } = answer
  const behind = { ttlMs, waitId: since, isFirst, seen: seenIf(true) }
  return { kind: 'granted', token, ...(inAll !== null && { inAll }), behind }
}

function permitFacts(facts: scripts.InspectReply): PermitFacts {
  const { isSet, available, taken, nowUs, leftMs, holders, waiting, wanted } = facts
  if (waiting.length !== wanted.length) throw odd()
  const acquired = leftMs.map(([id, ms]) => ({ id, ttlMs: Number(ms) < 0 ? null : Number(ms) }))
  return {
    permits: isSet || taken > 0 ? available + taken : null,
    available,
    taken,
    acquired,
    holders: permitHolders(acquired, holdersIn(holders, nowUs), taken),
    waiting: waiting.map(([client, sinceUs], i) => ({
      client,
      waitedMs: agoMs(sinceUs, nowUs),
      permits: Number(wanted[i]?.[1]),
    })),
  }
}

function holdersIn(pairs: readonly [owner: string, sinceUs: string][], nowUs: number) {
  return pairs.map(([owner, sinceUs]) => ({
    owner,
    permits: permitsOf(owner),
    ageMs: agoMs(sinceUs, nowUs),
  }))
}

function agoMs(sinceUs: string, nowUs: number): number {
  return Math.max(0, Math.round((nowUs - Number(sinceUs)) / 1_000))
}
