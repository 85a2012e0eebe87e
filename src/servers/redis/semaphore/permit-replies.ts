import type { PermitAnswer } from '../../permit-pool.ts'
import type { PermitFacts } from '../../permit-server.ts'
import * as scripts from '../scripts/permits.generated.ts'
import { odd } from '../scripts/reading.ts'

/** What `acquire` answered. */
export function permitAnswer(reply: unknown): PermitAnswer {
  const answer = scripts.readAcquire(reply)
  if (answer.kind !== 'too-many') return answer
  const { available, taken } = answer
  return { kind: 'tooMany', available, taken }
}

/** What `inspect` answered. */
export function permitFacts(reply: unknown): PermitFacts {
  const { isSet, available, taken, nowUs, leftMs, waiting, wanted } = scripts.readInspect(reply)
  if (waiting.length !== wanted.length) throw odd()
  return {
    permits: isSet || taken > 0 ? available + taken : null,
    available,
    taken,
    acquired: leftMs.map(([id, ms]) => ({ id, ttlMs: Number(ms) < 0 ? null : Number(ms) })),
    waiting: waiting.map(([client, sinceUs], i) => ({
      client,
      waitedMs: Math.max(0, Math.round((nowUs - Number(sinceUs)) / 1_000)),
      permits: Number(wanted[i]?.[1]),
    })),
  }
}
