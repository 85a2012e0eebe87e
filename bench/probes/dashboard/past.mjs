// Measures how long questions about the past block the process of the dashboard. The history is full, with 50,000
// entries, and 30 viewers ask at once. Run `npm run build`, then
//
//   node bench/probes/dashboard/past.mjs [rounds] [folder of another build, to compare]
import { createServer } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { entryOf } from '../../../scripts/lib/entry-of.mjs'
import { forkSelf, messageOf, quantile, startServer } from '../../support/support.mjs'

const ENTRIES = 50_000
const VIEWERS = 30
const NAMES = 500
const VIEWS = {
  'the same timeline': () => 'minutes=5',
  'the same day of waits': () => 'minutes=1440',
  'another lock each': (i) => `minutes=5&key=shop:order:${i}`,
  'another word each, over a day': (i) => `minutes=1440&filter=order:${i}`,
}

const [first = '10', ...others] = process.argv.slice(2)
if (first === 'dashboard') await serve(...others)
else await measure(Number(first), ['.', ...others])

async function serve(url, build) {
  const path = entryOf(build, './dashboard')
  const { newDashboard } = await import(pathToFileURL(path).href)
  const dashboard = newDashboard({ redis: url, authorize: () => 'read', history: { redis: url } })
  const server = createServer((request, response) => void dashboard.node(request, response))
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
  let delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  process.on('message', () => {
    process.send({ maxMs: delay.max / 1e6, cpu: process.cpuUsage() })
    delay.disable()
    delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
  })
}

async function measure(rounds, builds) {
  const server = await startServer()
  await fill(server.admin)
  const children = []
  for (const build of builds) {
    const child = forkSelf(import.meta.url, 'dashboard', server.url, build)
    const { port } = await messageOf(child, (message) => message.port && message)
    children.push({ build, child, port })
    await ask(port, 'minutes=5') // Lets the dashboard read the history.
  }
  for (const [view, query] of Object.entries(VIEWS)) {
    const found = new Map(builds.map((build) => [build, []]))
    for (let i = 0; i < rounds; i++) {
      for (const one of children) {
        await pause(1_100) // After this pause, the dashboard uses no stored answer.
        const before = await told(one.child)
        const startedAt = performance.now()
        await Promise.all(Array.from({ length: VIEWERS }, (_, i) => ask(one.port, query(i))))
        const tookMs = performance.now() - startedAt
        const { maxMs, cpu } = await told(one.child)
        const cpuMs = (cpu.user + cpu.system - before.cpu.user - before.cpu.system) / 1e3
        found.get(one.build).push({ maxMs, tookMs, cpuMs })
      }
    }
    for (const [build, all] of found) {
      const [max, took, cpu] = ['maxMs', 'tookMs', 'cpuMs'].map((what) => {
        return quantile(
          all.map((one) => one[what]),
          0.5,
        ).toFixed(0)
      })
      console.log(
        `${view}, ${build}: longest block of the event loop ${max} ms; all answers after ${took} ms, CPU ${cpu} ms`,
      )
    }
  }
  for (const { child } of children) {
    child.disconnect()
    child.kill()
  }
  await server.stop()
}

async function told(child) {
  const answer = messageOf(child, (message) => message.cpu && message)
  child.send('tell')
  return answer
}

async function ask(port, query) {
  const response = await fetch(`http://127.0.0.1:${port}/api/past?${query}`)
  await response.arrayBuffer()
}

/** Holds of 500 locks in the last hour, one after another. Half of the calls waited. */
async function fill(admin) {
  const now = Date.now()
  const text = (value) => `${value ?? ''}`
  for (let i = 0; i < ENTRIES; i += 1_000) {
    const batch = admin.pipeline()
    for (let j = i; j < i + 1_000; j++) {
      const hold = j >> 1
      const isEnd = j % 2 === 1
      const fields = {
        event: isEnd ? 'released' : 'acquired',
        name: `shop:order:${hold % NAMES}`,
        kind: 'lock',
        owner: `V1StGXR8_Z5jdHi6B-m${hold % 10}T:${hold}`,
        token: 1_790_000_000_000_000 + hold,
        client: '',
        label: `checkout-${hold % 10}`,
        waitedMs: isEnd ? '' : hold % 2 === 0 ? 0 : hold % 977,
        heldMs: isEnd ? 120 : '',
        path: isEnd ? '' : 'free',
        agoMs: 0,
        seq: `w-${j}`,
      }
      const at = now - Math.round(((ENTRIES - j) * 3_600_000) / ENTRIES)
      batch.xadd('holdfast_history', `${at}-${j}`, ...Object.entries(fields).flat().map(text))
    }
    await batch.exec()
  }
}
