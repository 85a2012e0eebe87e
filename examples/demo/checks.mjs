// The conditions that must be true at the end of the run, each with its text for the screen. If Redis has a record, the
// checks use this record and not the reports of the workers.
import { amount, duration, money } from './screen.mjs'

/** The tolerance between a time of the server and a time of this machine: whole milliseconds, and a little drift. */
const CLOCKS_MS = 3

/** @typedef {{ name: string, ok: boolean, words: string }} Check */

/** @returns {Check} */
export function checkBalances(expected, actual) {
  const wrong = [...expected].filter(([account, cents]) => actual.get(account) !== cents)
  const off = wrong.reduce((sum, [name, cents]) => sum + Math.abs(actual.get(name) - cents), 0)
  const words =
    wrong.length === 0
      ? `all ${expected.size} accounts are exact to the cent`
      : `${wrong.length} of ${expected.size} accounts are wrong, by ${money(off)} in all`
  return { name: 'Balances', ok: wrong.length === 0, words }
}

/** @returns {Check} */
export function checkOrders(orders, journal) {
  const written = new Set(journal.map((entry) => entry.order))
  const missing = orders.length - written.size
  const twice = journal.length - written.size
  const ok = missing === 0 && twice === 0
  const words = ok
    ? `each of ${amount(orders.length)} was written once`
    : `${missing} were never written, ${twice} more than once`
  return { name: 'Orders', ok, words }
}

/**
 * Tokens must rise in the order in which Redis did the writes. They must also rise in the order in which the workers
 * acquired the locks. This order includes holds without a write.
 *
 * @returns {Check}
 */
export function checkTokens(journal, holds) {
  const written = journal.flatMap((entry) => entry.writes)
  const granted = [...holds].sort((a, b) => a.granted - b.granted)
  const fallen = countFallen(written) + countFallen(granted)
  const words =
    fallen === 0
      ? `${amount(written.length)} writes and ${amount(granted.length)} noted grants, each with a token above the one before`
      : `${fallen} were not above the one before on their account`
  return { name: 'Fencing tokens', ok: fallen === 0 && written.length > 0, words }
}

function countFallen(entries) {
  const last = new Map()
  let fallen = 0
  for (const { account, token } of entries) {
    if (token <= (last.get(account) ?? 0)) fallen += 1
    last.set(account, token)
  }
  return fallen
}

/** @returns {Check} */
export function checkExclusion(holds) {
  const overlaps = countOverlaps(holds)
  const words =
    overlaps === 0
      ? `of ${amount(holds.length)} holds no two of one account overlap`
      : `${amount(overlaps)} of ${amount(holds.length)} times an account was in use by another already`
  return { name: 'Exclusion', ok: overlaps === 0, words }
}

function countOverlaps(holds) {
  const freeAt = new Map()
  let overlaps = 0
  for (const { account, granted, ended } of [...holds].sort((a, b) => a.granted - b.granted)) {
    const before = freeAt.get(account) ?? -Infinity
    if (granted < before) overlaps += 1
    freeAt.set(account, Math.max(before, ended))
  }
  return overlaps
}

/**
 * Each lock of the dead worker must go to another worker, but not before its lease has ended.
 *
 * @param {number} killedAt
 * @param {{ leaseEndsAt: number, next?: { granted: number } }[]} passings
 * @returns {Check}
 */
export function checkPassOn(killedAt, passings) {
  const passed = passings.filter(({ next }) => next)
  const early = passed.filter(({ next, leaseEndsAt }) => next.granted < leaseEndsAt - CLOCKS_MS)
  const ok = passed.length > 0 && passed.length === passings.length && early.length === 0
  const longest = Math.max(...passed.map(({ next }) => next.granted - killedAt))
  const latest = Math.max(...passed.map(({ next, leaseEndsAt }) => next.granted - leaseEndsAt))
  const words = ok
    ? `${passed.length} locks of the dead worker, within ${duration(longest)} of the kill and ${duration(latest)} of their lease's end`
    : `of ${passings.length} locks ${passed.length} passed on, ${early.length} of them before the lease was over`
  return { name: 'Pass-on', ok, words }
}

/** @returns {Check} */
export function checkLateWrite(outcome) {
  const words =
    outcome === 'stale'
      ? 'the write of the dead worker, delivered now, was refused by its old token'
      : `the write of the dead worker, delivered now, got the answer "${outcome}"`
  return { name: 'Late write', ok: outcome === 'stale', words }
}

/** How long the workers waited for their locks, in words. */
export function waits(holds) {
  const sorted = holds.map(({ asked, granted }) => granted - asked).sort((a, b) => a - b)
  const at = (share) => duration(sorted[Math.ceil(share * sorted.length) - 1])
  return `half of the locks came within ${at(0.5)} (p50), 99 % within ${at(0.99)} (p99), the last after ${at(1)}`
}
