// Prints the results of the run.
import {
  checkBalances,
  checkExclusion,
  checkLateWrite,
  checkOrders,
  checkPassOn,
  checkTokens,
  waits,
} from './checks.mjs'
import { firstHoldAfter } from './crew.mjs'
import { ACCOUNTS, balancesAfter, HOT_ACCOUNTS } from './orders.mjs'
import { amount, bold, dim, duration, green, money, red, say } from './screen.mjs'
import { timeline } from './timeline.mjs'

/** The width of a column in the close-up, in milliseconds. It is so small that single holds are visible. */
const CLOSE_COLUMN_MS = 1

/** @returns {boolean} true if all checks passed */
export function reportSafe(facts) {
  const { orders, balances, journal, holds, counts, goAt, endedAt, death, lateWrite } = facts
  const expected = balancesAfter(orders)
  const passings = death.locks.map((lock) => ({
    ...lock,
    next: firstHoldAfter(death.killedAt, lock.account, holds),
  }))
  const checks = [
    checkBalances(expected, balances),
    checkOrders(orders, journal),
    checkTokens(journal, holds),
    checkExclusion(holds),
    checkPassOn(death.killedAt, passings),
    checkLateWrite(lateWrite),
  ]
  const isGood = checks.every(({ ok }) => ok)

  tellTable(expected, balances)
  for (const check of checks) tellCheck(check)
  const sum = (name) => counts.reduce((total, count) => total + count[name], 0)
  tellFact('Waits', waits(holds))
  tellFact('Re-entries', `${amount(sum('reentries'))}, by functions that lock for themselves`)
  if (sum('again') > 0) tellFact('Begun again', `${sum('again')} orders, for a lost lease`)

  const passed = passings.filter(({ next }) => next)
  const all = [...holds, ...passed.map(({ next }) => holdOfTheDead(death, next))]
  tellTimeline(all, { goAt, endedAt }, 'x the dead one, until its lease ended', {
    at: death.killedAt,
    text: `${death.letter} killed`,
  })
  const firstPassedOn = Math.min(...passed.map(({ next }) => next.granted))
  if (passed.length > 0) tellCloseUp(all, firstPassedOn - 12, 'where the locks of the dead pass on')
  say(
    isGood
      ? green(bold(`All right: every cent is in its place, after ${duration(endedAt - goAt)}.`))
      : red(bold('NOT RIGHT: see the lines marked ✗.')),
  )
  return isGood
}

function holdOfTheDead({ letter, killedAt }, { account, granted }) {
  return { account, worker: letter, granted: killedAt, ended: granted, dead: true }
}

/** @returns {boolean} always true, because a run without locks may have right or wrong balances */
export function reportUnsafe({ orders, balances, journal, holds, goAt, endedAt }) {
  const expected = balancesAfter(orders)
  const check = checkBalances(expected, balances)

  tellTable(expected, balances)
  for (const each of [check, checkOrders(orders, journal), checkExclusion(holds)]) tellCheck(each)
  tellTimeline(holds, { goAt, endedAt }, 'a digit: so many orders at once')
  tellCloseUp(holds, (goAt + endedAt) / 2, 'in the middle of the run')
  if (check.ok) {
    say('By chance nothing went wrong this time, although nothing prevented it. Run it again.')
  } else {
    say(bold('The balances are WRONG, and that is what this run is to show.'))
    say('Orders read a balance that another was about to change, and wrote over what it wrote.')
    say('Without --unsafe a lock per account prevents that: npm run demo')
  }
  return true
}

function tellCheck({ name, ok, words }) {
  say(`${ok ? green('✓') : red('✗')} ${name.padEnd(16)}${words}`)
}

function tellFact(name, words) {
  say(`  ${name.padEnd(16)}${words}`)
}

function tellTable(expected, actual) {
  const cells = (name, ...columns) =>
    name.padEnd(10) + columns.map((text) => text.padStart(15)).join('')
  const row = (name, should, is) => {
    const line = cells(name, money(should), money(is), money(is - should))
    say(is === should ? line : red(line))
  }
  const total = (balances) => ACCOUNTS.reduce((sum, account) => sum + balances.get(account), 0)
  say(dim(cells('Account', 'expected', 'actual', 'difference')))
  for (const account of ACCOUNTS) row(account, expected.get(account), actual.get(account))
  row('together', total(expected), total(actual))
  say()
}

function tellTimeline(holds, { goAt, endedAt }, legend, mark) {
  say()
  say(`${bold('Who held what')}: a letter for each worker, ${legend}`)
  const view = { accounts: HOT_ACCOUNTS, from: goAt, until: endedAt, mark }
  for (const line of timeline(holds, view)) say(line)
}

function tellCloseUp(holds, from, where) {
  say()
  say(`${bold('From close by')}, ${where}: ${CLOSE_COLUMN_MS} ms a column`)
  const view = { accounts: HOT_ACCOUNTS, from, columnMs: CLOSE_COLUMN_MS }
  for (const line of timeline(holds, view)) say(line)
  say()
}
