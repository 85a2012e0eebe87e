// How often clients ask each of several masters for one lock that all of them want: contenders, each
// a client with connections of its own in one of two processes, with a critical section of some
// milliseconds. `npm run build`, then
// `node bench/quorum-contention.mjs [contenders] [masters] [holdMs] [seconds]`.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../dist/esm/index.js'
import { callsOf, forkSelf, messageOf, spread, startServer } from './support.mjs'

const PROCESSES = 2

if (process.argv[2] === 'worker') await work(...process.argv.slice(3))
else await measure(...process.argv.slice(2).map(Number))

async function work(urls, contenders, holdMs, seconds) {
  const options = { masters: urls.split(','), newDeployment: true }
  const clients = Array.from({ length: Number(contenders) }, () => new Holdfast(options))
  const locks = clients.map((client) => client.getLock('contended'))
  await Promise.all(clients.map((client, i) => client.getLock(`own:${i}`).tryLock(2_000)))
  process.send({ ready: true })
  await new Promise((resolve) => process.once('message', resolve))
  const end = performance.now() + Number(seconds) * 1_000
  const waits = []
  const counts = locks.map(() => 0)
  const contend = async (lock, i) => {
    while (performance.now() < end) {
      const asked = performance.now()
      const lease = await lock.lock()
      waits.push(performance.now() - asked)
      if (Number(holdMs) > 0) await pause(Number(holdMs))
      counts[i] += 1
      await lease.release()
    }
  }
  await Promise.all(locks.map(contend))
  await Promise.all(clients.map((client) => client.close()))
  process.send({ waits, counts }, () => process.disconnect())
}

async function measure(contenders = 8, masters = 5, holdMs = 2, seconds = 4) {
  const servers = []
  for (let i = 0; i < masters; i++) servers.push(await startServer())
  const urls = servers.map(({ url }) => url).join(',')
  const children = Array.from({ length: PROCESSES }, (_, i) => {
    const share = Math.floor((contenders + i) / PROCESSES)
    return forkSelf(import.meta.url, 'worker', urls, share, holdMs, seconds)
  })
  await Promise.all(children.map((child) => messageOf(child)))
  await Promise.all(servers.map(({ admin }) => admin.config('RESETSTAT')))
  const results = children.map((child) => messageOf(child))
  for (const child of children) child.send('go')
  const parts = await Promise.all(results)
  const counts = parts.flatMap((part) => part.counts)
  const total = counts.reduce((sum, one) => sum + one, 0)
  const jain = total ** 2 / (counts.length * counts.reduce((sum, one) => sum + one ** 2, 0))
  const calls = await Promise.all(servers.map(({ admin }) => callsOf(admin)))
  // Of the scripts that run here only `acquire` and the rare `renew` begin with PTTL.
  const each = (name) => calls.map((one) => ((one[name] ?? 0) / total).toFixed(2)).join(' ')
  console.log(
    `${contenders} contenders, ${masters} masters, hold ${holdMs} ms, ${seconds} s: ` +
      `${(total / seconds).toFixed(0)} acquisitions/s, Jain ${jain.toFixed(3)}`,
  )
  console.log(`wait ${spread(parts.flatMap(({ waits }) => waits))}`)
  console.log(`for each acquisition, by master: asked for the lock ${each('pttl')}`)
  console.log(`granted ${each('del')}; scripts ${each('evalsha')}`)
  await Promise.all(servers.map(({ stop }) => stop()))
}
