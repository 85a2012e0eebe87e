// Measures how hand-offs inside a process affect waiters in other processes. Several processes with several waiters
// each want one lock, and each holder holds for some milliseconds.
// Run `npm run build`, then `node bench/probes/lock/hand-over.mjs [processes] [waiters] [holdMs] [seconds]`.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import {
  callsOf,
  forkSelf,
  messageOf,
  quantile,
  spread,
  startServer,
} from '../../support/support.mjs'

if (process.argv[2] === 'worker') await work(...process.argv.slice(3))
else await measure(...process.argv.slice(2).map(Number))

async function work(url, waiters, holdMs, seconds) {
  const client = new Holdfast({ redis: url })
  const lock = client.getLock('hand-over')
  await lock.isLocked()
  process.send({ ready: true })
  await new Promise((resolve) => process.once('message', resolve))
  const end = performance.now() + Number(seconds) * 1_000
  const counts = []
  const waits = []
  const one = async (i) => {
    counts[i] = 0
    while (performance.now() < end) {
      const asked = performance.now()
      const lease = await lock.lock()
      waits.push(performance.now() - asked)
      if (Number(holdMs) > 0) await pause(Number(holdMs))
      counts[i] += 1
      await lease.release()
    }
  }
  await Promise.all(Array.from({ length: Number(waiters) }, (_, i) => one(i)))
  await client.close()
  process.send({ counts, waits }, () => process.disconnect())
}

async function measure(processes = 4, waiters = 4, holdMs = 1, seconds = 3) {
  const server = await startServer()
  const children = Array.from({ length: processes }, () =>
    forkSelf(import.meta.url, 'worker', server.url, waiters, holdMs, seconds),
  )
  await Promise.all(children.map((child) => messageOf(child)))
  await server.admin.config('RESETSTAT')
  const results = children.map((child) => messageOf(child))
  for (const child of children) child.send('go')
  const parts = await Promise.all(results)
  const perProcess = parts.map(({ counts }) => counts.reduce((sum, one) => sum + one, 0))
  const counts = parts.flatMap((part) => part.counts)
  const total = perProcess.reduce((sum, one) => sum + one, 0)
  const jain = total ** 2 / (counts.length * counts.reduce((sum, one) => sum + one ** 2, 0))
  const calls = await callsOf(server.admin)
  const commands = Object.values(calls).reduce((sum, one) => sum + one, 0)
  console.log(
    `${processes} processes × ${waiters} waiters, hold ${holdMs} ms, ${seconds} s: ` +
      `${(total / seconds).toFixed(0)} acquisitions/s`,
  )
  console.log(`wait ${spread(parts.flatMap(({ waits }) => waits))}`)
  console.log(
    `share of the processes: ${perProcess.join(' : ')}; Jain over callers ${jain.toFixed(3)}`,
  )
  console.log(
    `starved callers: ${counts.filter((one) => one === 0).length}, fewest acquisitions of a caller ${quantile(counts, 0)}`,
  )
  console.log(
    `scripts per acquisition ${((calls.evalsha ?? 0) / total).toFixed(2)}, ` +
      `commands ${(commands / total).toFixed(1)}`,
  )
  await server.stop()
}
