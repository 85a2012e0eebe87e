// Measures how often other callers get the lock beside a busy client, if they can only poll. One such client has no
// right to subscribe. Another client waits with a growing delay, as RSpinLock of Redisson does.
// Run `npm run build`, then `node bench/probes/lock/starving.mjs [callers] [holdMs] [seconds] [spin|poll|none]`.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { forkSelf, messageOf, spread, startServer } from '../../support/support.mjs'

if (process.argv[2] === 'worker') await work(...process.argv.slice(3))
else await measure(...process.argv.slice(2))

async function work(url, callers, holdMs, seconds, how) {
  const client = new Holdfast({ redis: url })
  const lock = client.getLock('starving')
  await lock.isLocked()
  process.send({ ready: true })
  await new Promise((resolve) => process.once('message', resolve))
  const end = performance.now() + Number(seconds) * 1_000
  const waits = []
  const spin = async () => {
    for (let ms = 1; ; ms = Math.min(ms * 2, 128)) {
      const lease = await lock.tryLock()
      if (lease !== null || performance.now() > end) return lease
      await pause(ms * Math.random() + 1)
    }
  }
  const one = async () => {
    while (performance.now() < end) {
      const asked = performance.now()
      const left = Math.max(1, Math.round(end - asked))
      const lease = how === 'spin' ? await spin() : await lock.tryLock(left)
      if (lease === null) return
      waits.push(performance.now() - asked)
      if (Number(holdMs) > 0) await pause(Number(holdMs))
      await lease.release()
    }
  }
  await Promise.all(Array.from({ length: Number(callers) }, one))
  await client.close()
  process.send({ waits }, () => process.disconnect())
}

async function measure(callers = 8, holdMs = 1, seconds = 30, how = 'poll') {
  const server = await startServer()
  await server.admin.acl('SETUSER', 'deaf', 'on', '>pw', '~*', '&*', '+@all', '-subscribe')
  const deaf = server.url.replace('://', '://deaf:pw@')
  const children = [
    forkSelf(import.meta.url, 'worker', server.url, callers, holdMs, seconds, 'wait'),
  ]
  if (how !== 'none') {
    const url = how === 'spin' ? server.url : deaf
    children.push(forkSelf(import.meta.url, 'worker', url, 1, 1, seconds, how))
  }
  await Promise.all(children.map((child) => messageOf(child)))
  const results = children.map((child) => messageOf(child))
  for (const child of children) child.send('go')
  const [busy, other] = await Promise.all(results)
  console.log(
    `${callers} callers, hold ${holdMs} ms: ${(busy.waits.length / seconds).toFixed(0)} ` +
      `acquisitions/s, wait ${spread(busy.waits)}`,
  )
  if (other !== undefined) {
    console.log(`${how} beside it: ${other.waits.length} in ${seconds} s`)
    if (other.waits.length > 0) console.log(`  wait ${spread(other.waits)}`)
  }
  await server.stop()
}
