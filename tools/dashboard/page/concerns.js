// The concerns that users should look at, by the rules of docs/reference/dashboard.md. Each concern
// has a level, a text, and the column that the text is about.
import { count, seconds, whoOf } from './format.js'
import { wordsOf } from './kinds.js'

const WAIT_WARN_MS = 10_000
const WAIT_BAD_MS = 60_000
/**
 * If a client has not reported itself for this time, in milliseconds, its process may be gone. A
 * client that uses Redis reports itself every 20 s.
 */
const SEEN_MS = 45_000
/**
 * A client with a long lease may report itself only at renewals. The report may come this much
 * later than a third of the lease, in milliseconds.
 */
const REPORT_MS = 25_000
/**
 * A late renewal is reported only for leases of at least this length, in milliseconds. A shorter
 * lease may have less than `NEARLY_OVER_MS` left, although it is renewed in time.
 */
const SHORTEST_LEASE_MS = 10_000
const NEARLY_OVER_MS = 5_000

export const LEVELS = { warn: 1, bad: 2 }

/**
 * True if calls wait for the lock. Candidates of an election do not count, because they usually
 * wait for as long as another candidate leads.
 */
export const isWaitedFor = (row) => row.waiting > 0 && wordsOf(row.kind).countsWaiters

export const isHeld = ({ state }) => state !== 'free' && state !== 'closed'

/**
 * @param {any} row of the table, or a detail
 * @param {number} now by the clock of the dashboard
 * @returns {{ level: 'warn' | 'bad', about: string, text: string }[]} the worst first
 */
export function concernsOf(row, now) {
  const concerns = []
  if (isWaitedFor(row)) concerns.push(...ofWaiters(row, now))
  if (row.problem !== null) concerns.push({ level: 'warn', about: 'state', text: row.problem })
  for (const holder of row.holders) concerns.push(...ofHolder(row, holder, now))
  return concerns.sort((a, b) => LEVELS[b.level] - LEVELS[a.level])
}

function ofWaiters({ kind, stateText, waiting, waitingSince }, now) {
  const { unusable } = wordsOf(kind)
  if (stateText === unusable?.stateText) {
    return [{ level: 'bad', about: 'state', text: `${count(waiting)} waiting, ${unusable.text}` }]
  }
  const waitedMs = waitingSince === null ? 0 : now - waitingSince
  if (waitedMs <= WAIT_WARN_MS) return []
  const level = waitedMs > WAIT_BAD_MS ? 'bad' : 'warn'
  return [{ level, about: 'oldest', text: `The first waiter has waited for ${seconds(waitedMs)}.` }]
}

function ofHolder({ kind, queue = [] }, holder, now) {
  const { until, seenAt, leaseMs, owner } = holder
  const who = whoOf(holder)
  if (until === null) {
    const text = `The hold of ${who} has no expiry, so it never ends.`
    return [{ level: wordsOf(kind).endless, about: 'left', text }]
  }
  const concerns = []
  const client = owner.split(':', 1)[0]
  const isDead = queue.some((one) => one.isDead && one.owner.split(':', 1)[0] === client)
  const seenMs = seenAt === null ? 0 : now - seenAt
  if (isDead || seenMs > Math.max(SEEN_MS, (leaseMs ?? 0) / 3 + REPORT_MS)) {
    const why = isDead ? 'its heartbeat has stopped' : `it was last seen ${seconds(seenMs)} ago`
    const text = `${who} may be gone: ${why}.`
    concerns.push({ level: 'warn', about: 'holder', text })
  }
  const leftMs = until - now
  const isLong = (leaseMs ?? 0) >= SHORTEST_LEASE_MS
  if (isLong && leftMs < Math.min(NEARLY_OVER_MS, leaseMs / 6)) {
    const left = leftMs <= 0 ? 'is over' : `ends in ${seconds(leftMs)}`
    const text = `The lease of ${who} ${left}, and was not renewed.`
    concerns.push({ level: 'warn', about: 'left', text })
  }
  return concerns
}
