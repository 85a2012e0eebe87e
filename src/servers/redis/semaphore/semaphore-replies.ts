import type { SemaphoreFacts } from '../../answers.ts'
import type { PermitAnswer } from '../../permit-pool.ts'
import { odd } from '../scripts/reading.ts'
import * as scripts from '../scripts/semaphore.generated.ts'

/** Reads the answer of `acquire`. Plain permits have no token, so the token is 0. */
export function takingOf(reply: unknown): PermitAnswer {
  const answer = scripts.acquire.read(reply)
  if (answer.kind === 'granted') return { kind: 'granted', token: 0 }
  const { kind, ttlMs, since, isSet, available } = answer
  const seen = { isSet, available, taken: null, holders: [] }
  return since === '' ? { kind, ttlMs, seen } : { kind, ttlMs, since, seen }
}

/** Returns true if the permits were added; false if the semaphore does not exist. */
export function additionOf(reply: unknown): boolean {
  return scripts.release.read(reply).kind === 'added'
}

export function semaphoreFacts(reply: unknown): SemaphoreFacts {
  const { isSet, available, nowUs, waiting, wanted } = scripts.inspect.read(reply)
  if (waiting.length !== wanted.length) throw odd()
  return {
    isSet,
    available,
    waiting: waiting.map(([client, sinceUs], i) => ({
      client,
      waitedMs: Math.max(0, Math.round((nowUs - Number(sinceUs)) / 1_000)),
      permits: Number(wanted[i]?.[1]),
    })),
  }
}
