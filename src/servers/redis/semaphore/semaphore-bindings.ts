import type { Released } from '../../answers.ts'
import type { SemaphoreFacts } from '../../facts.ts'
import type { PermitAnswer } from '../../permit-pool.ts'
import type { semaphoreKeys } from '../key-names/permits.ts'
import { converted } from '../scripts/convert.ts'
import { odd } from '../scripts/reading.ts'
import * as scripts from '../scripts/semaphore.generated.ts'

/** The names for a request whose result is stored under its id. */
export interface StoredNames extends ReturnType<typeof semaphoreKeys> {
  readonly request: string
  /** The keys of the results that the server may forget. */
  readonly answered: readonly string[]
}

export const acquire = converted(scripts.acquire, permitAnswer)
/** The answer has two parts: the answer to the addition, as for `add`, and the answer to the attempt. */
export const handOver = converted(scripts.handOver, (answer): [boolean, PermitAnswer] => {
  return [answer.isAdded, permitAnswer(answer)]
})
export const giveBack = converted(
  scripts.giveBack,
  (isFreed): Released => (isFreed ? { kind: 'freed', others: 0 } : { kind: 'gone' }),
)
export const { leave } = scripts
/** Answers with true if the permits were added; false if the semaphore does not exist. */
export const add = converted(scripts.release, ({ kind }) => kind === 'added')
export const change = converted(scripts.set, ({ result }) => result)
export const inspect = converted(scripts.inspect, semaphoreFacts)

/** Plain permits have no token, so the token is 0. */
function permitAnswer(answer: scripts.AcquireReply): PermitAnswer {
  if (answer.kind === 'granted') return { kind: 'granted', token: 0 }
  const { ttlMs, since, available } = answer
  const seenIf = (isSet: boolean) => ({ isSet, available, taken: null, holders: [] })
  if (answer.kind === 'granted-and-waits') {
    const behind = { ttlMs, waitId: since, isFirst: answer.isFirst, seen: seenIf(true) }
    return { kind: 'granted', token: 0, behind }
  }
  const held = { kind: answer.kind, ttlMs, seen: seenIf(answer.isSet) }
  return since === '' ? held : { ...held, waitId: since }
}

function semaphoreFacts(facts: scripts.InspectReply): SemaphoreFacts {
  const { isSet, available, nowUs, waiting, wanted } = facts
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
