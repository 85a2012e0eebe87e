import type { AcquireAnswer, SemaphoreFacts } from '../../answers.ts'
import { odd } from '../scripts/reading.ts'
import * as scripts from '../scripts/semaphore.generated.ts'

/** What `acquire` answered. Permits have no token. */
export function takingOf(reply: unknown): AcquireAnswer {
  const answer = scripts.readAcquire(reply)
  if (answer.kind === 'granted') return { kind: 'granted', token: 0 }
  const { kind, ttlMs, since } = answer
  return since === '' ? { kind, ttlMs } : { kind, ttlMs, since }
}

/** What `release` answered: whether there is such a semaphore. */
export function additionOf(reply: unknown): boolean {
  return scripts.readRelease(reply).kind === 'added'
}

/** What `inspect` answered. */
export function semaphoreFacts(reply: unknown): SemaphoreFacts {
  const { available, nowUs, waiting, wanted } = scripts.readInspect(reply)
  if (waiting.length !== wanted.length) throw odd()
  return {
    available,
    waiting: waiting.map(([client, sinceUs], i) => ({
      client,
      waitedMs: Math.max(0, Math.round((nowUs - Number(sinceUs)) / 1_000)),
      permits: Number(wanted[i]?.[1]),
    })),
  }
}
