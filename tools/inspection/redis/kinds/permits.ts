import { NAMES } from '../../../../src/servers/redis/calls/keys.ts'
import { PERMIT_NAMES, permitKeys } from '../../../../src/servers/redis/key-names/permits.ts'
import type { BareHolder } from '../../../kinds/concluded.ts'
import { permitsOf } from '../../owner-ids.ts'
import type { Requests } from '../answers.ts'
import { type Answers, pairs } from '../answers.ts'
import type { KeyKind } from './kind.ts'
import { MOST_READ } from './names.ts'
import { numberIn, numberKindOf, permitQueue, permitRequests } from './numbers.ts'
import { ageOf } from './waiters.ts'

const { queue, alive, holders } = PERMIT_NAMES
const { kind } = NAMES.number

/** The latest expiry of a permit with a lease, in milliseconds since 1970. */
const NEVER_MS = 1e14

/** The permit ids of one acquisition begin with this many common hex digits. */
const HEAD_DIGITS = 24

/** Semaphores whose permits have leases. */
export const permits: KeyKind = {
  kind: 'permits',
  named: [queue, kind],
  expiring: [queue, alive, holders, kind],
  requests(found): Requests {
    const { key, type, nowMs } = found
    const timeouts = permitKeys(key).timeouts
    return {
      ...permitRequests(found),
      ...(type === 'string' && {
        timeouts: ['ZCARD', timeouts],
        taken: ['ZCOUNT', timeouts, `(${Math.floor(nowMs)}`, '+inf'],
        permitHolders: ['HGETALL', permitKeys(key).holders],
      }),
    }
  },
  moreRequests(answers): Requests {
    const { key, nowMs } = answers.found
    if (answers.number('taken') === 0) return {}
    const range = [`(${Math.floor(nowMs)}`, '+inf', 'WITHSCORES', 'LIMIT', 0, MOST_READ] as const
    return { permits: ['ZRANGEBYSCORE', permitKeys(key).timeouts, ...range] }
  },
  conclude(answers) {
    if (numberKindOf(answers) !== 'permits') return null
    const number = numberIn(answers)
    const waiters = permitQueue(answers)
    if (number === undefined) {
      return { isSet: false, count: { available: 0, taken: 0, toGo: null }, queue: waiters }
    }
    const taken = answers.number('taken')
    // Expired permits count as available, because the next request makes them available.
    const expired = Math.max(0, answers.number('timeouts') - taken)
    const count = { available: number + expired, taken, toGo: null }
    return { holders: holdersOf(answers), count, queue: waiters }
  },
  // A repeated request takes no other permit, because no other acquisition gets the same permit id.
  force({ key, owner, publish }, all) {
    const { pool, timeouts, channel, tickets, ...own } = permitKeys(key)
    const keys = [pool, timeouts, own.queue, own.alive, own.holders, own.kind]
    return permitsOf(owner, all).map((id) => {
      return { script: 'takePermit', keys, args: [id, channel, publish, tickets] }
    })
  },
}

/**
 * Returns the holders of the permits. Reads the ids as bytes, because an id is 16 bytes and not
 * text. For each acquisition, the server stores the shared digits of its ids, its owner, and its
 * start in µs.
 */
function holdersOf(answers: Answers): BareHolder[] {
  const { nowMs } = answers.found
  const known = new Map(pairs(answers.list('permitHolders')))
  const groups = new Map<string, { ids: string[]; untilMs: number; text: string | undefined }>()
  const flat = answers.bytes('permits')
  for (let i = 0; i < flat.length; i += 2) {
    const id = (flat[i] as Buffer).toString('hex')
    const untilMs = Number(String(flat[i + 1]))
    const head = id.slice(0, HEAD_DIGITS)
    const text = known.get(head)
    const name = text === undefined ? id : head
    const group = groups.get(name) ?? { ids: [], untilMs, text }
    group.ids.push(id)
    group.untilMs = Math.min(group.untilMs, untilMs)
    groups.set(name, group)
  }
  return [...groups].map(([name, { ids, untilMs, text }]) => {
    const [, owner, sinceUs] = /^(.*) (\d+)$/s.exec(text ?? '') ?? []
    return {
      owner: owner ?? name,
      isRedisson: false,
      holdCount: ids.length,
      permits: ids,
      ttlMs: untilMs > NEVER_MS ? null : Math.round(untilMs - nowMs),
      ageMs: ageOf(Number(sinceUs ?? 0), nowMs),
    }
  })
}
