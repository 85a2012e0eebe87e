// Measures the time from a release to a waiter in another process. The time is from just before the call of unlock()
// until lock() resolves. Run `npm run build`, then `node bench/probes/lock/wake-up.mjs [rounds]`.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { forkSelf, messageOf, spread, startServer } from '../../support/support.mjs'

const now = () => Number(process.hrtime.bigint()) / 1e6

if (process.argv[2] === 'waiter') await wait(process.argv[3])
else await measure(Number(process.argv[2] ?? 1_000))

async function wait(url) {
  const client = new Holdfast({ redis: url })
  const lock = client.getLock('wake-up')
  client.on('wait', () => process.send({ waits: true }))
  process.on('message', async (message) => {
    if (message === 'end') return client.close().then(() => process.disconnect())
    const lease = await lock.lock()
    const at = now()
    await lease.release()
    process.send({ at })
  })
  process.send({ ready: true })
}

async function measure(rounds) {
  const server = await startServer()
  const client = new Holdfast({ redis: server.url })
  const lock = client.getLock('wake-up')
  const waiter = forkSelf(import.meta.url, 'waiter', server.url)
  await messageOf(waiter)
  const latencies = []
  for (let i = 0; i < rounds; i++) {
    const lease = await lock.lock()
    const waits = messageOf(waiter, (message) => message.waits)
    waiter.send('lock')
    await waits
    while ((await lock.inspect()).waiters === 0) await pause(1)
    await pause(2) // The waiter tries again when its subscription is confirmed.
    const acquired = messageOf(waiter, (message) => message.at)
    const start = now()
    await lease.release()
    latencies.push((await acquired).at - start)
  }
  console.log(`wake-up across processes, ${rounds} rounds: ${spread(latencies)}`)
  waiter.send('end')
  await client.close()
  await server.stop()
}
