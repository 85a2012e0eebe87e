import { kindKey } from '../../../../src/servers/redis/calls/keys.ts'
import { PERMIT_NAMES, semaphoreKeys } from '../../../../src/servers/redis/key-names/permits.ts'
import type { BareWaiter } from '../../../kinds/concluded.ts'
import { wantedPermits } from '../../../kinds/permits.ts'
import type { Answers, FoundKey, Requests } from '../answers.ts'
import { queueOf } from './names.ts'
import { waitersOf } from './waiters.ts'

// This file reads latches and semaphores. Their main key contains only a number.

/**
 * Returns the kind of the object with this name; null if there is none. Clients of Holdfast store
 * the kind in a separate key. Without this key, the other keys show the kind.
 */
export function numberKindOf(answers: Answers): 'latch' | 'permits' | 'semaphore' | null {
  const { type, token } = answers.found
  const stored = answers.text('note')
  if (type === 'none') {
    const isStored = stored === 'permits' || stored === 'semaphore'
    if (!isStored && answers.list('wanting').length === 0) return null
    return stored === 'permits' || token !== null ? 'permits' : 'semaphore'
  }
  if (type !== 'string' || !/^-?\d+$/.test(answers.text('number') ?? '')) return null
  if (stored === null ? answers.number('round') > 0 : stored === 'latch') return 'latch'
  const wereTaken = answers.number('timeouts') + answers.number('taken') > 0
  const hasLeases = stored === null ? wereTaken || token !== null : stored === 'permits'
  return hasLeases ? 'permits' : 'semaphore'
}

/** Returns the requests that read the number of permits and the waiters. */
export function permitRequests({ key, type }: FoundKey): Requests {
  if (type !== 'string' && type !== 'none') return {}
  return {
    ...(type === 'string' && { number: ['GET', key] }),
    note: ['GET', kindKey(key)],
    wanting: queueOf(PERMIT_NAMES.queue, key),
    wanted: ['HGETALL', semaphoreKeys(key).alive],
  }
}

/** Returns the number in the main key. Undefined if the number is not set. */
export function numberIn(answers: Answers): number | undefined {
  return answers.found.type === 'string' ? answers.number('number') : undefined
}

export const permitQueue = (answers: Answers): BareWaiter[] =>
  waitersOf(answers, {
    queue: 'wanting',
    alive: 'wanted',
    wants(heartbeat) {
      const [, permits] = / (\d+)$/.exec(heartbeat) ?? []
      return permits === undefined ? null : wantedPermits(Number(permits))
    },
  })
