// Measures the cost of diagnostics facts for lock() and release(), without listeners, and with a subscriber on every
// channel. It measures on a real server, and in memory, where only the code of Holdfast takes time. Each variant has
// its own process, and the processes take turns.
// Run `npm run build`, then `node bench/probes/lock/facts.mjs [rounds] [acquisitions] [folder of an earlier build]`.
// The program also measures the earlier build, for example a build without facts.
import { subscribe } from 'node:diagnostics_channel'
import { resolve } from 'node:path'
import { entryOf } from '../../../scripts/lib/entry-of.mjs'
import { forkSelf, messageOf, quantile, startServer } from '../../support/support.mjs'

const here = resolve(import.meta.dirname, '../../..')
if (process.argv[2] === 'worker') await work(...process.argv.slice(3))
else await measure(...process.argv.slice(2))

async function work(folder, url, listens) {
  const { Holdfast } = await import(entryOf(folder))
  const { createMemoryServer } = await import(entryOf(folder, './testing'))
  const clients = { real: new Holdfast({ redis: url }), memory: createMemoryServer().newClient() }
  let heard = 0
  if (listens === 'true') {
    for (const name of ['acquire', 'hold', 'release', 'renew']) {
      for (const step of ['start', 'end', 'asyncStart', 'asyncEnd', 'error']) {
        subscribe(`tracing:holdfast:${name}:${step}`, () => {
          heard += 1
        })
      }
    }
  }
  process.on('message', async ({ place, count }) => {
    if (count === 0) {
      await Promise.all(Object.values(clients).map((client) => client.close()))
      process.disconnect()
      return
    }
    const lock = clients[place].getLock(`facts:${process.pid}`)
    const cpu = process.cpuUsage()
    const began = performance.now()
    for (let i = 0; i < count; i++) await (await lock.lock()).release()
    const wall = ((performance.now() - began) * 1_000) / count
    const { user, system } = process.cpuUsage(cpu)
    process.send({ wall, cpu: (user + system) / count, heard })
  })
  process.send({ ready: true })
}

async function measure(rounds = '60', acquisitions = '500', earlier = undefined) {
  const server = await startServer()
  const variants = []
  const add = async (name, folder, listens) => {
    const child = forkSelf(import.meta.url, 'worker', folder, server.url, listens)
    await messageOf(child)
    variants.push({ name, child, real: [], memory: [] })
  }
  if (earlier !== undefined) await add('an earlier build', resolve(earlier), false)
  await add('no listener', here, false)
  await add('a subscriber on all channels', here, true)
  const counts = { real: Number(acquisitions), memory: 5 * Number(acquisitions) }
  for (let round = -5; round < Number(rounds); round++) {
    for (const place of ['real', 'memory']) {
      for (const one of [...variants].sort(() => Math.random() - 0.5)) {
        const answer = messageOf(one.child)
        one.child.send({ place, count: counts[place] })
        const took = await answer
        if (took.heard > 0 !== one.name.startsWith('a subscriber')) throw new Error(one.name)
        if (round >= 0) one[place].push(took)
      }
    }
  }
  for (const { child } of variants) child.send({ count: 0 })
  for (const place of ['real', 'memory']) {
    console.log(
      `${place}, ${rounds} rounds of ${counts[place]}: medians of the times, and of the ratios to the first variant in each round`,
    )
    for (const one of variants) {
      const told = ['wall', 'cpu'].map((what) => {
        const ratios = one[place].map((took, round) => took[what] / variants[0][place][round][what])
        const all = one[place].map((took) => took[what])
        return `${what} ${quantile(all, 0.5).toFixed(1)} µs (× ${quantile(ratios, 0.5).toFixed(3)})`
      })
      console.log(`  ${one.name}: ${told.join(', ')}`)
    }
  }
  await server.stop()
}
