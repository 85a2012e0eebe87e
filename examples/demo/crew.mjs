// The worker processes as the main process sees them.
import { once } from 'node:events'
import { forkChild, isRunning, kill } from './children.mjs'
import { now, startOfRun } from './clock.mjs'

/** How often a worker reports its work, in milliseconds. */
export const REPORT_MS = 100

/**
 * @typedef {object} Worker
 * @property {string} letter
 * @property {import('node:child_process').ChildProcess} child
 * @property {Promise<void>} ready
 * @property {string} clientId the start of the names of its owners in Redis
 * @property {object[]} holds the holds that it has reported so far
 * @property {{ orders: number, reentries: number, again: number }} counts
 * @property {boolean} killed
 * @property {Promise<void>} ended rejects if the worker ends with an error
 */

/** @returns {Worker[]} the workers; each connects and then waits for the message 'go' */
export function startCrew(letters, settings) {
  return letters.map((letter) => startWorker(letter, settings))
}

function startWorker(letter, settings) {
  const child = forkChild('worker.mjs')
  const counts = { orders: 0, reentries: 0, again: 0 }
  const worker = { letter, child, clientId: '', holds: [], counts, killed: false }
  const isReady = new Promise((resolve) => {
    child.on('message', (message) => {
      if (message.type === 'ready') {
        worker.clientId = message.clientId
        resolve()
      } else if (message.type === 'report') {
        for (const hold of message.holds) worker.holds.push({ ...hold, worker: letter })
        worker.counts = message.counts
      }
    })
  })
  // The IPC connection closes after its last message is read. This may be after the end of the process.
  const ends = Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  worker.ended = ends.then(([[code, signal]]) => {
    if (worker.killed || code === 0) return
    throw new Error(`Worker ${letter} ended with ${signal ?? `code ${code}`}: ${child.output}`)
  })
  worker.ready = Promise.race([isReady, worker.ended])
  for (const promise of [worker.ended, worker.ready]) promise.catch(() => {})
  child.send({ letter, startOfRun: startOfRun(), reportMs: REPORT_MS, ...settings })
  return worker
}

/**
 * Kills a worker in the middle of an order: both balances are read, the locks of both accounts are
 * held, and nothing is written yet.
 */
export async function killInTheMiddle(worker) {
  worker.child.send('stop before you write')
  const { order, writes } = await new Promise((resolve, reject) => {
    worker.child.on('message', (message) => message.type === 'about to write' && resolve(message))
    worker.ended.then(
      () => reject(new Error(`worker ${worker.letter} was through already`)),
      reject,
    )
  })
  worker.killed = true
  const killedAt = now()
  await kill(worker.child)
  return { orderId: order, writes, killedAt }
}

/** All holds that the workers have reported so far. */
export function holdsOf(workers) {
  return workers.flatMap((worker) => worker.holds)
}

/** The first hold of the account after a moment; undefined if there is none. */
export function firstHoldAfter(moment, account, holds) {
  const later = holds.filter((hold) => hold.account === account && hold.granted > moment)
  return later.sort((a, b) => a.granted - b.granted)[0]
}

export async function endCrew(workers) {
  for (const worker of workers) worker.killed ||= isRunning(worker.child)
  await Promise.all(workers.map(({ child }) => kill(child)))
}
