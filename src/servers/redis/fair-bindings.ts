import type { HeartbeatAnswer, Released } from '../answers.ts'
import { clientOf } from '../owner-id.ts'
import { endsInMs, type Remaining } from '../remaining.ts'
import { forEachOwn, othersOf } from './calls/own-listeners.ts'
import { converted, only } from './scripts/convert.ts'
import * as scripts from './scripts/fair.generated.ts'
import { renew } from './scripts/lock.generated.ts'
import { odd } from './scripts/reading.ts'

export const acquire = only(scripts.acquire, 'granted', 'held')
export const acquireInTurn = only(scripts.acquire, 'granted', 'queued')

/**
 * Returns the binding of a heartbeat for some locks. The answer has the state of each lock, or the
 * error of the server.
 */
export const heartbeat = (locks: number) =>
  converted(scripts.heartbeat, ({ answers }): (HeartbeatAnswer | string)[] => {
    if (answers.length !== locks) throw odd()
    return answers.map((one) =>
      typeof one === 'string' ? one : { ...one, ttlMs: endsInMs(one.ttlMs) },
    )
  })

/** The binding that renews the lease of one owner, and answers the remaining lease. */
export const confirm = converted(renew, (answers): Remaining => {
  const [remaining] = answers
  if (remaining === undefined || answers.length > 1) throw odd()
  return remaining
})

/** Makes the bindings of a release, one for each number of own listeners. Returns a function that selects a binding. */
export const releasesOf = (clientId: string) =>
  forEachOwn((own) =>
    converted(scripts.release, (answer): Released => {
      if (answer.kind !== 'granted' && answer.kind !== 'run') return othersOf(answer, own)
      const { owner, token } = answer
      const run = answer.kind === 'run' ? { run: answer.next.split(' ') } : undefined
      const following = { owner, token, own: clientOf(owner) === clientId, ...run }
      return { kind: 'freed', others: own === -1 ? 1 : 0, following }
    }),
  )
