// Measures the delay that a frozen process at the head of the queue causes for the next waiter. It also checks that
// the frozen process does not act as holder when it continues. The program sends SIGSTOP, then releases the lock.
// Several rounds run at the same time, each with its own process to freeze. First the freezes are short and end
// around the end of the claim window. Then one freeze is long.
// Run `npm run build`, then `node bench/probes/fair/frozen-head.mjs [processes] [freezeMs] [short rounds]`. `--quick`
// makes a short run. The program exits with code 1 if it finds an error.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import {
  now,
  quantile,
  serve,
  startServer,
  startWorker,
  table,
  until,
} from '../../support/support.mjs'
import { Journal, keysLeft } from '../../support/witness.mjs'

if (process.argv[2] === 'worker') work(process.argv[3])
else await measure(process.argv.slice(2))

function work(url) {
  const client = new Holdfast({ redis: url })
  const journal = new Journal(url)
  const leases = new Map()
  serve({
    /** Acts as holder as soon as it has the lock. */
    take: async (name) => {
      const lease = await client.getFairLock(name).lock()
      const at = now()
      leases.set(name, lease)
      await journal.enter(lease)
      return at
    },
    leave: async (name) => {
      const lease = leases.get(name)
      await journal.leave(lease)
      const at = now()
      return { at, wasHeld: await lease.release() }
    },
    close: () => client.close().then(() => journal.close()),
  })
}

async function measure(args) {
  const quick = args.includes('--quick')
  const numbers = args.filter((arg) => arg !== '--quick').map(Number)
  const [processes = quick ? 2 : 12, freezeMs = quick ? 2_100 : 30_000, shorts = quick ? 1 : 6] =
    numbers
  const server = await startServer()
  const holder = new Holdfast({ redis: server.url })
  const journal = new Journal(server.url)
  const next = startWorker(import.meta.url, server.url)
  const heads = Array.from({ length: processes }, () => startWorker(import.meta.url, server.url))
  const names = []

  const queued = (name) => server.admin.zcard(`holdfast_queue:{${name}}`)

  async function round(head, frozenMs) {
    const name = `frozen:${names.length}`
    names.push(name)
    const lease = await holder.getFairLock(name).lock()
    const first = head.call('take', name)
    await until(async () => (await queued(name)) === 1, 'the head')
    const second = next.call('take', name)
    await until(async () => (await queued(name)) === 2, 'the waiter behind the head')
    await pause(100 + Math.random() * 500) // Any time between two heartbeats.
    head.kill('SIGSTOP')
    await pause(20)
    const start = now()
    const thawed = pause(frozenMs).then(() => head.kill('SIGCONT'))
    await lease.release()

    // Each holder holds for a while, so that a process that wrongly acts as holder is visible.
    const hold = async (worker, taken) => {
      const at = await taken
      await pause(300)
      if (frozenMs > 2_000) {
        await thawed
        await pause(1_000)
      }
      return { took: at, ...(await worker.call('leave', name)) }
    }
    const [theHead, theNext] = await Promise.all([hold(head, first), hold(next, second)])
    return {
      inTime: theHead.took < theNext.took,
      blockedMs: Math.min(theHead.took, theNext.took) - start,
      lost: !theHead.wasHeld || !theNext.wasHeld,
      thenMs: Math.max(theHead.took - theNext.at, theNext.took - theHead.at),
    }
  }

  // Loads the scripts, and connects all clients.
  await Promise.all(heads.map((head) => round(head, 1)))
  const rows = []
  let violations = 0
  const plan = Array.from({ length: shorts }, () => () => 200 + Math.random() * 1_800)
  const short = []
  for (const frozenMs of plan) {
    short.push(...(await Promise.all(heads.map((head) => round(head, frozenMs())))))
  }
  const long = await Promise.all(heads.map((head) => round(head, freezeMs)))
  for (const [what, results] of [
    ['0.2 to 2 s', short],
    [`${freezeMs / 1_000} s`, long],
  ]) {
    const blocked = results.map(({ blockedMs }) => blockedMs)
    violations += results.filter(({ lost }) => lost).length
    rows.push([
      what,
      results.length,
      ...[0, 0.5, 1].map((q) => quantile(blocked, q).toFixed(0)),
      results.filter(({ inTime }) => inTime).length,
      quantile(
        results.map(({ thenMs }) => thenMs),
        1,
      ).toFixed(0),
    ])
  }
  table(
    [
      'head frozen for',
      'rounds',
      'blocked ms min',
      'p50',
      'max',
      'thawed in time',
      'hand-off to the other, max ms',
    ],
    rows,
  )
  let overlaps = 0
  let regressions = 0
  for (const name of names) {
    const seen = await journal.read(name)
    overlaps += seen.overlaps
    regressions += seen.regressions
  }
  await Promise.all([...heads, next].map((worker) => worker.call('close')))
  await holder.close()
  const left = await keysLeft(server.admin)
  violations += overlaps + regressions + left.length
  console.log(
    `acted as holder beside the holder: ${overlaps}, token regressions: ${regressions}, ` +
      `keys left: ${left.length}`,
  )
  process.exitCode = violations > 0 ? 1 : 0
  for (const worker of [...heads, next]) worker.kill()
  journal.close()
  await server.stop()
}
