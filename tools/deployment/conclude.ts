import { KINDS } from '../kinds/all.ts'
import { clientOf, isCandidates, isOfLock, isRedissons } from './key-names.ts'
import type { RawKeys, RawQueue } from './read-keys.ts'
import { pairs } from './reply.ts'
import type { HolderRow, LockDetail, WaiterRow } from './rows.ts'
import { stateOf } from './state.ts'

export type BareHolder = Omit<HolderRow, 'process'>
export type BareWaiter = Omit<WaiterRow, 'process'>

/**
 * The detail of one lock, without the votes and without the processes of its holders and waiters.
 */
export type BareDetail = Omit<LockDetail, 'holders' | 'queue' | 'votes'> & {
  readonly holders: readonly BareHolder[]
  readonly queue: readonly BareWaiter[]
}

/**
 * The start of 2020 as a server time, in µs since 1970. A smaller number is a count and not a time.
 */
const FIRST_US = Date.UTC(2020) * 1_000
/**
 * If the expiry of a permit is after this moment, the permit has no lease. In milliseconds since
 * 1970.
 */
const NEVER_MS = 1e14
/**
 * The longest remaining time of a heartbeat, in milliseconds. A longer time means that the server
 * clock was set back, and the waiter counts as dead.
 */
const MOST_AHEAD_MS = 10_000
/**
 * All permit ids of one acquisition begin with the same hex digits. `HEAD_DIGITS` is the number of
 * these digits.
 */
const HEAD_DIGITS = 24

/**
 * Derives the state of one lock from the content of its keys.
 *
 * @param isQuorum true for independent masters, whose tokens are counts and not times
 * @returns null if no lock has that name, or if the key is not of Holdfast or Redisson
 */
export function conclude(raw: RawKeys, isQuorum: boolean): BareDetail | null {
  if (raw.type === 'hash') return ofHash(raw, isQuorum)
  if (raw.type === 'string') return /^-?\d+$/.test(raw.number ?? '') ? ofNumber(raw) : null
  return raw.type === 'none' ? ofNothing(raw) : ofOwnType(raw)
}

/** Kinds with their own type of key conclude by themselves. */
function ofOwnType(raw: RawKeys): BareDetail | null {
  for (const { kind, conclude: concludeOwn } of KINDS) {
    const found = concludeOwn?.(raw) ?? null
    if (found === null) continue
    const { wants } = found
    const queue = found.waiting.map((owner) => ({ owner, waitedMs: null, isDead: false, wants }))
    const known = { kind, holders: [], mode: undefined, count: found.count, isSet: true }
    return detailOf(raw, known, queue, 0)
  }
  return null
}

function ofHash(raw: RawKeys, isQuorum: boolean): BareDetail | null {
  const fields = pairs(raw.fields)
  if (!fields.every(([field]) => isOfLock(field))) return null
  const mode = fields.find(([field]) => field === 'mode')?.[1]
  const owners = raw.ttlMs === -2 ? [] : fields.filter(([field]) => field !== 'mode')
  const since = isQuorum ? null : ageOf(Number(raw.token ?? 0), raw.nowMs)
  const holders = owners.flatMap(([owner, count]) => {
    const ofReader = raw.readers.get(owner)
    const isRedisson = isRedissons(owner)
    const isAlone = owners.length === 1 && mode !== 'read' && !isRedisson
    const holder: BareHolder = {
      owner,
      isRedisson,
      holdCount: Number(count),
      permits: [],
      ttlMs: raw.ttlMs === -1 ? null : raw.ttlMs,
      ageMs: isAlone ? since : null,
    }
    if (ofReader === undefined) return [holder]
    const { ttlMs, sinceUs } = ofReader
    // An expired reader stays in the hash until the next request, so the reader is not listed. A
    // Redisson reader is listed, because Redisson may renew the key of the lock and not the key of
    // the reader.
    if (ttlMs === -2) return isRedisson ? [holder] : []
    return [{ ...holder, ttlMs: ttlMs === -1 ? null : ttlMs, ageMs: ageOf(sinceUs, raw.nowMs) }]
  })
  const queue = [...fairQueue(raw), ...readWriteQueue(raw)]
  const isElection = [...owners.map(([owner]) => owner), ...queue.map(({ owner }) => owner)].some(
    isCandidates,
  )
  const kind = mode !== undefined ? 'read-write' : isElection ? 'election' : 'lock'
  const known = { kind, holders, mode, count: null, isSet: true } as const
  return detailOf(raw, known, queue, raw.listeners)
}

function ofNumber(raw: RawKeys): BareDetail {
  const { number, note, taken, expired } = raw
  const isLatch = note === null ? raw.hasRound : note === 'latch'
  const hasLeases = note === null ? taken + expired > 0 || raw.token !== null : note === 'permits'
  if (isLatch) {
    const count = { available: 0, taken: null, toGo: Math.max(0, Number(number)) }
    const known = { kind: 'latch', holders: [], mode: undefined, count, isSet: true } as const
    return detailOf(raw, known, [], raw.listeners)
  }
  const kind = hasLeases ? 'permits' : 'semaphore'
  const count = {
    // Expired permits count as available, because the next request makes them available.
    available: Number(number) + expired,
    taken: hasLeases ? taken : null,
    toGo: null,
  }
  const holders = hasLeases ? permitHolders(raw) : []
  return detailOf(raw, { kind, holders, mode: undefined, count, isSet: true }, permitQueue(raw), 0)
}

/**
 * Derives the state of a lock whose main key does not exist. Returns null if the other keys have no
 * token, no waiter and no kind of a semaphore.
 */
function ofNothing(raw: RawKeys): BareDetail | null {
  const permits = permitQueue(raw)
  if (permits.length > 0 || raw.note === 'permits' || raw.note === 'semaphore') {
    const kind = raw.note === 'permits' || raw.token !== null ? 'permits' : 'semaphore'
    const count = { available: 0, taken: kind === 'permits' ? 0 : null, toGo: null }
    const known = { kind, holders: [], mode: undefined, count, isSet: false } as const
    return detailOf(raw, known, permits, 0)
  }
  const [fair, readWrite] = [fairQueue(raw), readWriteQueue(raw)]
  const queue = [...fair, ...readWrite]
  if (raw.token === null && queue.length === 0) return null
  const isElection = fair.some(({ owner }) => isCandidates(owner))
  const kind = readWrite.length > 0 ? 'read-write' : isElection ? 'election' : 'lock'
  const known = { kind, holders: [], mode: undefined, count: null, isSet: true } as const
  return detailOf(raw, known, queue, 0)
}

function detailOf(
  raw: RawKeys,
  known: Parameters<typeof stateOf>[0],
  queue: readonly BareWaiter[],
  listeners: number,
): BareDetail {
  const alive = queue.filter(({ isDead }) => !isDead)
  const unread = Math.max(0, raw.fair.length - raw.fair.since.length / 2)
  const waits = alive.flatMap(({ waitedMs }) => waitedMs ?? [])
  return {
    key: raw.key,
    kind: known.kind,
    ...stateOf(known),
    holders: known.holders,
    token: raw.token === null ? null : Number(raw.token),
    waiting: Math.max(alive.length + unread, listeners),
    oldestWaitMs: waits.length === 0 ? null : Math.max(...waits),
    count: known.count,
    queue,
  }
}

function permitHolders({ permits, permitHolders, nowMs }: RawKeys): BareHolder[] {
  const known = new Map(pairs(permitHolders))
  const groups = new Map<string, { ids: string[]; untilMs: number; text: string | undefined }>()
  for (const { id, untilMs } of permits) {
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

// In the hash of a fair queue, the field of a heartbeat is a client id. Owner ids are the fields of
// claim windows, which are not read here.
const fairQueue = ({ fair, nowMs }: RawKeys) => waitersOf(fair, nowMs, () => null, clientOf)

const readWriteQueue = ({ writers, reading, nowMs }: RawKeys) => [
  ...waitersOf(writers, nowMs, () => 'write'),
  ...waitersOf(reading, nowMs, () => 'read'),
]

const permitQueue = ({ wanting, nowMs }: RawKeys) =>
  waitersOf(wanting, nowMs, (mark) => {
    const [, permits] = / (\d+)$/.exec(mark) ?? []
    return permits === undefined ? null : `${permits} permit${permits === '1' ? '' : 's'}`
  })

function waitersOf(
  { since, alive }: RawQueue,
  nowMs: number,
  wants: (mark: string) => string | null,
  // Returns the field of a waiter's heartbeat. If the hash has no such field, the heartbeat of the
  // waiter's client counts.
  fieldOf: (owner: string) => string = (owner) => owner,
): BareWaiter[] {
  const marks = new Map(pairs(alive))
  return pairs(since).map(([owner, sinceUs]) => {
    const mark = marks.get(fieldOf(owner)) ?? marks.get(clientOf(owner)) ?? ''
    const aheadMs = Number.parseInt(mark, 10) - nowMs
    return {
      owner,
      // Null for a reader that upgrades. The score of this reader is not a time: it only puts the
      // reader before all other waiters.
      waitedMs: ageOf(Number(sinceUs), nowMs),
      isDead: !(aheadMs >= 0 && aheadMs <= MOST_AHEAD_MS),
      wants: wants(mark),
    }
  })
}

function ageOf(sinceUs: number, nowMs: number): number | null {
  return sinceUs < FIRST_US ? null : Math.max(0, Math.round(nowMs - sinceUs / 1e3))
}
