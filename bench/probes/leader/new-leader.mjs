// Measures how long an election has no leader. After resign(), the time is from just before this call until the
// function of the next candidate begins in another process. After a SIGKILL of the leader, the program subtracts the
// rest of the lease. It also measures the time until an observer in a third process receives the new leader.
// Run `npm run build`, then `node bench/probes/leader/new-leader.mjs [resignations] [kills]`. `--quick` makes a short
// run.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { now, serve, spread, startServer, startWorker, until } from '../../support/support.mjs'

const LEASE_MS = 2_000

if (process.argv[2] === 'worker') work(process.argv[3])
else await measure(process.argv.slice(2))

function work(url) {
  const holdfast = new Holdfast({ redis: url, leaseMs: LEASE_MS })
  const election = holdfast.getLeaderElection('probe')
  let begun
  let led
  serve({
    ready: () => election.leader(),
    /** Starts a candidate, which then waits or leads. */
    stand: () => {
      begun = new Promise((resolve) => {
        led = election.lead(({ signal }) => {
          resolve(now())
          return new Promise((end) => {
            signal.addEventListener('abort', end, { once: true })
          })
        })
        // On a busy machine, the candidate may lose its term.
        led.catch((error) => console.error(error.message))
      })
    },
    begun: () => begun,
    resign: async () => {
      const at = now()
      await election.resign()
      await led
      return at
    },
    close: () => holdfast.close(),
  })
}

async function measure(args) {
  const quick = args.includes('--quick')
  const [resignations = quick ? 5 : 500, kills = quick ? 1 : 30] = args
    .filter((arg) => arg !== '--quick')
    .map(Number)
  const server = await startServer()
  const start = async () => {
    const worker = startWorker(import.meta.url, server.url)
    await worker.call('ready')
    return worker
  }
  const observer = new Holdfast({ redis: server.url })
  const election = observer.getLeaderElection('probe')
  let [told, lastToken] = [0, 0]
  election.on('changed', (leader) => {
    if (leader === null) return
    told = now()
    lastToken = leader.token
  })
  const waits = (count) =>
    until(async () => (await election.inspect()).candidates.length === count, `${count} waiting`)
  const isTold = () =>
    until(async () => (await election.leader())?.token === lastToken, 'the report to the observer')

  let [leader, next] = await Promise.all([start(), start()])
  await leader.call('stand')
  await leader.call('begun')
  const [resigned, observed] = [[], []]
  for (let i = 0; i < resignations; i++) {
    await next.call('stand')
    await waits(1)
    // Waits until the server knows that the inbox has a listener.
    await pause(5)
    const begun = next.call('begun')
    const from = await leader.call('resign')
    resigned.push((await begun) - from)
    await isTold()
    observed.push(told - from)
    ;[leader, next] = [next, leader]
  }
  console.log(`resign() to the next leader, ${resignations} times: ${spread(resigned)}`)
  console.log(`resign() to the report to an observer, ${resignations} times: ${spread(observed)}`)

  const late = []
  for (let i = 0; i < kills; i++) {
    await next.call('stand')
    await waits(1)
    // Any time between two renewals.
    await pause(Math.random() * (LEASE_MS / 3))
    const left = await server.admin.pttl('probe')
    const from = now()
    leader.kill('SIGKILL')
    late.push((await next.call('begun')) - from - left)
    leader = next
    next = await start()
  }
  console.log(
    `SIGKILL to the next leader, without the rest of the lease, ${kills} times: ${spread(late)}`,
  )
  await leader.call('resign')
  await Promise.all([leader, next].map((worker) => worker.call('close')))
  await observer.close()
  leader.kill()
  next.kill()
  await server.stop()
}
