import { forcedKey, INBOX, lockKeys } from '../../../../src/servers/redis/calls/keys.ts'
import { FAIR_NAMES, queueKeys } from '../../../../src/servers/redis/key-names/fair.ts'
import type { BareHolder, BareWaiter, Concluded } from '../../../kinds/concluded.ts'
import { type Answers, type FoundKey, pairs, type Requests } from '../answers.ts'
import type { ForceTerms, RightNames } from './kind.ts'
import { CLAIM_MS, COUNTER_MS, HASHES, listenersOf, queueOf, SETS } from './names.ts'
import { numberKindOf } from './numbers.ts'
import { isCandidates, isOfLock, isRedissons } from './owners.ts'
import { ageOf, waitersOf } from './waiters.ts'

// This file reads locks, elections and read-write locks. Their holders are the fields of a hash.

type HashKind = 'lock' | 'election' | 'read-write'

/**
 * Returns the requests that read a lock or an election. For a read-write lock, these requests only
 * read the holders.
 */
export function lockRequests({ key, type, queued, isCluster }: FoundKey): Requests {
  if (type !== 'hash' && type !== 'none') return {}
  return {
    ...(type === 'hash' && {
      fields: ['HGETALL', key],
      ttl: ['PTTL', key],
      listeners: listenersOf(lockKeys(key).channel, isCluster),
    }),
    ...(queued > 0 && {
      fair: queueOf(FAIR_NAMES.queue, key),
      places: ['HGETALL', queueKeys(key).waiting],
    }),
  }
}

/**
 * Returns the kind of the lock with this name. Null if the name has no lock, election or read-write
 * lock.
 */
function hashKindOf(answers: Answers): HashKind | null {
  const { type, token } = answers.found
  const readWrite = [...answers.list('writers'), ...answers.list('reading')]
  const fair = answers.list('fair')
  if (type === 'hash') {
    const fields = fieldsOf(answers).map(([field]) => field)
    if (!fields.every(isOfLock)) return null
    if (fields.includes('mode')) return 'read-write'
    return [...fields, ...fair].some(isCandidates) ? 'election' : 'lock'
  }
  if (type !== 'none' || numberKindOf(answers) !== null) return null
  if (readWrite.length > 0) return 'read-write'
  if (fair.length > 0) return fair.some(isCandidates) ? 'election' : 'lock'
  return token === null ? null : 'lock'
}

/** Returns the holders and waiters of a lock of this kind. Null for a name of another kind. */
export function concludeHash(answers: Answers, kind: HashKind): Concluded | null {
  if (hashKindOf(answers) !== kind) return null
  // `places` has two sorts of fields. A field with a client id is a heartbeat, which this code
  // reads. A field with an owner id says how long an unconfirmed grant of this owner lasts.
  const fair = waitersOf(answers, { queue: 'fair', alive: 'places', byClient: true })
  const mode = fieldsOf(answers).find(([field]) => field === 'mode')?.[1]
  return {
    holders: holdersOf(answers, mode),
    queue: [...fair, ...readWriteQueue(answers)],
    mode,
    listeners: answers.listeners('listeners'),
  }
}

const fieldsOf = (answers: Answers) => pairs(answers.list('fields'))

function holdersOf(answers: Answers, mode: string | undefined): BareHolder[] {
  const { token, nowMs } = answers.found
  const ttlMs = answers.leftMs('ttl')
  if (ttlMs === undefined) return []
  const owners = fieldsOf(answers).filter(([field]) => field !== 'mode')
  const readers = new Set(readersOf(answers))
  const since = answers.isQuorum ? null : ageOf(token ?? 0, nowMs)
  return owners.flatMap(([owner, count]) => {
    const isRedisson = isRedissons(owner)
    const isAlone = owners.length === 1 && mode !== 'read' && !isRedisson
    const holder: BareHolder = {
      owner,
      isRedisson,
      holdCount: Number(count),
      permits: [],
      ttlMs,
      ageMs: isAlone ? since : null,
    }
    if (!readers.has(owner)) return [holder]
    const readerMs = answers.leftMs(`ttl ${owner}`)
    // An expired reader may stay in the hash until a later request, so it does not count as a
    // holder. A reader of Redisson counts, because Redisson may renew only the key of the lock, and
    // not the key of the reader.
    if (readerMs === undefined) return isRedisson ? [holder] : []
    return [{ ...holder, ttlMs: readerMs, ageMs: ageOf(answers.number(`since ${owner}`), nowMs) }]
  })
}

/**
 * Returns the owner ids of the readers and of the upgradable holder of a read-write lock. Each of
 * them has a key for its lease.
 */
export function readersOf(answers: Answers): string[] {
  const fields = fieldsOf(answers).map(([field]) => field)
  if (!fields.includes('mode')) return []
  return fields.filter((field) => field !== 'mode' && !field.endsWith(':write'))
}

const readWriteQueue = (answers: Answers): BareWaiter[] => [
  ...waitersOf(answers, { queue: 'writers', alive: 'alive', wants: () => 'write' }),
  ...waitersOf(answers, { queue: 'reading', alive: 'alive', wants: () => 'read' }),
]

export function forceLock({ key, owner, token, floor, publish, forcedMs }: ForceTerms) {
  const { lock, counter, channel } = lockKeys(key)
  const { queue, waiting, javaQueue, javaTimeouts } = queueKeys(key)
  const keys = [lock, counter, queue, waiting, javaQueue, javaTimeouts, forcedKey(key)]
  const terms = [owner, token ?? '', floor, COUNTER_MS, CLAIM_MS]
  return [
    { script: 'takeLock', keys, args: [...terms, INBOX, channel, publish, forcedMs] },
  ] as const
}

export function fairRights({ lock: key, own }: RightNames) {
  const { javaQueue, javaTimeouts } = FAIR_NAMES
  return {
    commands: [
      ['EXISTS', key],
      ['HKEYS', key],
      ...HASHES(key),
      ...SETS(key),
      ['LRANGE', key, '0', '-1'],
    ],
    patterns: [...own(javaQueue, javaTimeouts), `&${INBOX}*`],
  }
}
