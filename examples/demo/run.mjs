// The steps of the demo: start a server and workers, kill one worker, and report the results.
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from 'holdfast'
import { Bank } from './bank.mjs'
import { isRunning } from './children.mjs'
import { now } from './clock.mjs'
import { endCrew, firstHoldAfter, holdsOf, killInTheMiddle, REPORT_MS, startCrew } from './crew.mjs'
import { ACCOUNTS, OPENING_CENTS, readOrders } from './orders.mjs'
import { reportSafe, reportUnsafe } from './report.mjs'
import {
  amount,
  bold,
  colorOf,
  dim,
  duration,
  endProgress,
  red,
  say,
  showProgress,
} from './screen.mjs'
import { openServer } from './server.mjs'

const LETTERS = ['A', 'B', 'C', 'D']
const VICTIM = 'C'
/** Short, so that the other workers get the locks of the dead worker soon. */
const LEASE_MS = 2_000
/** The number of orders that one worker settles at the same time. */
const IN_FLIGHT = 3
const KILL_AFTER_SHARE = 0.35
const LONGEST_RUN_MS = 60_000

/**
 * @param {{ unsafe: boolean, embedded: boolean }} options
 * @param {(end: () => Promise<void>) => void} atEnd adds a clean-up function, which runs at every end of the demo
 * @returns {Promise<boolean>} true if all checks passed, and always true without locks
 */
export async function run({ unsafe, embedded }, atEnd) {
  say(bold(unsafe ? 'Holdfast demo, WITHOUT the locks' : 'Holdfast demo'))
  const server = await openServer({ embedded, atEnd })
  say(`Server   ${server.words}`)
  say(dim(`         answers in ${duration(server.pingMs)}`))

  const orders = readOrders()
  const prefix = `holdfast-demo:${randomBytes(4).toString('hex')}:`
  const bank = new Bank(server.url, prefix)
  atEnd(async () => {
    // If the demo started the server, the data ends with the server.
    if (!server.isOurs) {
      await Promise.race([bank.remove(LETTERS, ACCOUNTS.map(lockNameOf)), pause(2_000)])
    }
    bank.close()
  })
  const holdfast = new Holdfast({ redis: server.url, keyPrefix: prefix, leaseMs: LEASE_MS })
  atEnd(() => holdfast.close())
  await bank.open(ACCOUNTS, OPENING_CENTS, orders)

  const settings = { url: server.url, prefix, leaseMs: LEASE_MS, inFlight: IN_FLIGHT, unsafe }
  const workers = startCrew(LETTERS, settings)
  atEnd(() => endCrew(workers))
  await Promise.all(workers.map((worker) => worker.ready))
  const pids = workers.map(({ letter, child }) => `${colorOf(letter)(letter)} ${child.pid}`)
  say(`Workers  ${pids.join(', ')} (process ids), each with ${IN_FLIGHT} orders at a time`)
  say(`Orders   ${amount(orders.length)}, between ${ACCOUNTS.length} accounts`)
  say(
    unsafe
      ? `Locks    ${red('none')}`
      : `Locks    one per account, lease ${duration(LEASE_MS)}, renewed as long as its holder lives`,
  )
  say()

  const goAt = now()
  for (const { child } of workers) child.send('go')
  const settled = () => workers.reduce((sum, worker) => sum + worker.counts.orders, 0)
  const drawing = setInterval(() => {
    const perSecond = (settled() / (now() - goAt)) * 1_000
    const shares = workers.map(({ letter, killed, counts }) => ({ letter, killed, ...counts }))
    showProgress({ done: settled(), total: orders.length, perSecond, workers: shares })
  }, 40)
  atEnd(async () => clearInterval(drawing))

  const crewEnded = Promise.all(workers.map((worker) => worker.ended))
  const deadline = pause(LONGEST_RUN_MS, undefined, { ref: false }).then(() => {
    throw new Error(`the workers did not finish within ${duration(LONGEST_RUN_MS)}`)
  })
  const isTime = () => settled() > orders.length * KILL_AFTER_SHARE
  // Without locks no worker is killed, because no worker has a lock for which others wait.
  const dying = unsafe ? undefined : killOne(workers, isTime, bank, holdfast)
  const [, death] = await Promise.race([Promise.all([crewEnded, dying]), deadline])
  const endedAt = now()
  clearInterval(drawing)
  endProgress()

  const facts = {
    orders,
    goAt,
    endedAt,
    balances: await bank.balances(),
    journal: await bank.journal(),
    holds: holdsOf(workers),
    counts: workers.map((worker) => worker.counts),
  }
  let showedIt
  if (unsafe) {
    showedIt = reportUnsafe(facts)
  } else {
    // A network may deliver a write of a dead process late. Redis refuses this write because of its token.
    const lateWrite = await bank.commit(death.orderId, VICTIM, death.writes)
    showedIt = reportSafe({ ...facts, death, lateWrite })
  }
  say(dim(`It took ${duration(now())}.`))
  return showedIt
}

/** Kills a worker in the middle of an order, and prints which worker gets each of its locks. */
async function killOne(workers, isTime, bank, holdfast) {
  while (!isTime()) await pause(5)
  const victim = workers.find((worker) => worker.letter === VICTIM)
  const { orderId, writes, killedAt } = await killInTheMiddle(victim)
  tell(killedAt, red(`worker ${VICTIM} is killed (SIGKILL), about to write order ${orderId}`))
  const returned = await bank.giveBack(VICTIM)
  tell(now(), `its orders ${returned.join(', ')} are not written and go to the others`)

  const inspected = await Promise.all(
    ACCOUNTS.map(async (account) => {
      const askedAt = now()
      const { holder, ttlMs } = await holdfast.getLock(lockNameOf(account)).inspect()
      return { account, holder, leaseEndsAt: askedAt + (ttlMs ?? 0) }
    }),
  )
  const locks = inspected.filter(({ holder }) => holder?.startsWith(`${victim.clientId}:`))
  for (const { account, leaseEndsAt } of locks) {
    tell(now(), `it still holds ${account}, for ${duration(leaseEndsAt - now())}`)
  }
  await Promise.all(locks.map(({ account }) => tellOfNextHold(killedAt, account, workers)))
  return { letter: VICTIM, orderId, writes, killedAt, locks }
}

/** Workers report a hold after its end, at different times. So this function looks again after two more reports. */
async function tellOfNextHold(killedAt, account, workers) {
  const find = () => firstHoldAfter(killedAt, account, holdsOf(workers))
  while (!find() && workers.some(({ child }) => isRunning(child))) await pause(REPORT_MS)
  await pause(2 * REPORT_MS)
  const next = find()
  if (!next) return
  const waited = duration(next.granted - killedAt)
  tell(
    next.granted,
    `${account} passes on to ${colorOf(next.worker)(next.worker)}, ${waited} after the kill`,
  )
}

function tell(at, words) {
  say(`${(at / 1_000).toFixed(1).padStart(5)} s  ${words}`)
}

const lockNameOf = (account) => `account:${account}`
