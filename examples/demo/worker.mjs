// A worker process. It settles several orders at the same time, and holds the locks of their accounts.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, LeaseLostError } from 'holdfast'
import { Bank } from './bank.mjs'
import { now, setStartOfRun } from './clock.mjs'
import { HOT_ACCOUNTS, readOrders } from './orders.mjs'

// Ctrl-C reaches every process of the terminal, but the main process decides what happens then.
process.on('SIGINT', () => {})
// Without the main process a worker has no work.
process.on('disconnect', () => process.exit())

const settings = await new Promise((resolve) => process.once('message', resolve))
const { letter, url, prefix, leaseMs, inFlight, unsafe, reportMs } = settings
setStartOfRun(settings.startOfRun)
const bank = new Bank(url, prefix)
const holdfast = new Holdfast({ redis: url, keyPrefix: prefix, leaseMs })
const orders = new Map(readOrders().map((order) => [order.id, order]))

/** Runs `fn` while no other worker uses the account. `--unsafe` leaves out only this lock. */
function locked(account, fn) {
  if (unsafe) return fn({ token: 0, assertValid() {} })
  return holdfast.getLock(`account:${account}`).using(fn)
}

/** Moves the money of one order. The worker holds the locks of both accounts until the write is done. */
async function transfer(order) {
  // All workers acquire the two locks in the same order, so that no two orders wait for each other.
  const [first, second] = [order.payer, order.payee].sort()
  await occupy(first, () =>
    occupy(second, async () => {
      const writes = [await debit(order.payer, order.cents), await credit(order.payee, order.cents)]
      if (isToBeKilled && isHot(order)) await waitForTheKill(order, writes)
      const outcome = await bank.commit(order.id, letter, writes)
      if (outcome === 'stale') throw new StaleTokenError(order.id)
    }),
  )
}

/**
 * `debit` and `credit` acquire the lock themselves, like functions that are called from many places. `transfer` already
 * holds the lock, so they re-enter it.
 */
function debit(account, cents) {
  return locked(account, async (lease) => {
    counts.reentries += 1
    const balance = await bank.balanceOf(account)
    // Stands for slow work between the read and the write, such as a request to another service.
    await pause(1)
    lease.assertValid()
    return { account, cents: balance - cents, token: lease.token }
  })
}

function credit(account, cents) {
  return locked(account, async (lease) => {
    counts.reentries += 1
    const balance = await bank.balanceOf(account)
    lease.assertValid()
    return { account, cents: balance + cents, token: lease.token }
  })
}

class StaleTokenError extends Error {}

// --- The diary: all holds with their times, for the checks and the timeline at the end ---

let diary = []
const counts = { orders: 0, reentries: 0, again: 0 }

/** As `locked`, and adds the hold to the diary. The times in the diary are never outside the hold. */
function occupy(account, fn) {
  const asked = now()
  return locked(account, async (lease) => {
    const granted = now()
    try {
      return await fn()
    } finally {
      diary.push({ account, token: lease.token, asked, granted, ended: now() })
    }
  })
}

function report() {
  process.send({ type: 'report', holds: diary, counts })
  diary = []
}

// --- The end of one worker: it stops while it holds locks, and the main process kills it ---

let isToBeKilled = false
process.on('message', (message) => {
  if (message === 'stop before you write') isToBeKilled = true
})

const isHot = (order) => [order.payer, order.payee].every((name) => HOT_ACCOUNTS.includes(name))

async function waitForTheKill(order, writes) {
  isToBeKilled = false
  report()
  process.send({ type: 'about to write', order: order.id, writes })
  await new Promise(() => {})
}

// --- Work ---

async function work() {
  for (;;) {
    const id = await bank.take(letter)
    if (id === null) {
      // An empty queue is not the end, because the orders of a killed worker come back.
      if ((await bank.doneCount()) === orders.size) return
      await pause(20)
      continue
    }
    try {
      await transfer(orders.get(id))
      counts.orders += 1
    } catch (error) {
      // The worker learns that its lease has ended before it writes. Another worker, or this one, does the order again.
      if (!(error instanceof LeaseLostError || error instanceof StaleTokenError)) throw error
      counts.again += 1
      await bank.giveOneBack(letter, id)
    }
  }
}

const go = new Promise((resolve) => {
  process.on('message', (message) => message === 'go' && resolve())
})
await Promise.all([bank.doneCount(), holdfast.getLock('warm-up').isLocked()])
process.send({ type: 'ready', clientId: holdfast.id })
await go
const reporting = setInterval(report, reportMs)
await Promise.all(Array.from({ length: inFlight }, work))
clearInterval(reporting)
report()
await holdfast.close()
bank.close()
process.disconnect()
