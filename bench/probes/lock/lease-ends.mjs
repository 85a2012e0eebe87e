// Measures how long the event loop is blocked while many fixed leases of different lengths end, one after another.
//
//   npm run build && node bench/probes/lock/lease-ends.mjs [--holds 16000] [--spread 8000]
//
// The program makes the holds without a server, so it measures the watchdog alone.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { systemClock } from '../../../.cache/modules/src/kit/clock.js'
import { Hold } from '../../../.cache/modules/src/lease/hold.js'
import { Watchdog } from '../../../.cache/modules/src/lease/watchdog.js'

const { values } = parseArgs({
  options: {
    holds: { type: 'string', default: '16000' },
    spread: { type: 'string', default: '8000' },
  },
})
const [holds, spreadMs] = [Number(values.holds), Number(values.spread)]

const clock = systemClock
const renewer = {
  groups: (all) => [[...all]],
  renew: async (all) => all.map((hold) => ({ kind: 'held', leaseMs: hold.remainingMs() })),
}
const watchdog = new Watchdog(renewer, 60_000, clock, {
  renewing: () => {},
  renewed: () => {},
  late: () => {},
})

let left = holds
const lost = new Promise((resolve) => {
  for (let i = 0; i < holds; i++) {
    const leaseMs = 2_000 + Math.floor((i * 7_919) % holds) * (spreadMs / holds)
    const fields = { lockName: `it ${i}`, id: { rawName: `it ${i}`, ownerId: 'c:1' }, token: 1 }
    const hold = new Hold(
      { ...fields, leaseMs, kind: { name: 'lock', isShared: false }, sentAt: clock.now() },
      clock,
      (one) => {
        watchdog.untrack(one)
        left -= 1
        if (left === 0) resolve()
      },
    )
    watchdog.track(hold)
  }
})
const alive = setInterval(() => {}, 1_000)
const delay = monitorEventLoopDelay({ resolution: 1 })
const cpu = process.cpuUsage()
const before = performance.eventLoopUtilization()
delay.enable()
await lost
delay.disable()
clearInterval(alive)
const { utilization, active } = performance.eventLoopUtilization(before)
const { user } = process.cpuUsage(cpu)
const ms = (nanoseconds) => Math.round(nanoseconds / 1e4) / 100
console.log(
  `${holds} leases over ${spreadMs} ms: the event loop was busy for ${Math.round(active)} ms ` +
    `(${Math.round(utilization * 100)} %), ${Math.round(user / 1e3)} ms of user time. Its delay was ` +
    `${ms(delay.percentile(99))} ms at the 99th percentile and ${ms(delay.max)} ms at most`,
)
