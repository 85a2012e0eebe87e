// Counts the requests of each operation on the server. Run `npm run build`, then
// `node bench/probes/lock/round-trips.mjs`.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { callsOf, startServer } from '../../support/support.mjs'

const server = await startServer()
const client = new Holdfast({ redis: server.url })

async function count(what, work) {
  await server.admin.config('RESETSTAT')
  await work()
  const {
    evalsha = 0,
    eval: sources = 0,
    subscribe = 0,
    unsubscribe = 0,
  } = await callsOf(server.admin)
  console.log(`${what}: ${evalsha + sources} scripts, ${subscribe + unsubscribe} subscriptions`)
}

async function measure(lock) {
  // Loads the scripts.
  await lock.using(() => lock.using(() => {}))
  await Promise.all([lock.using(() => {}), lock.using(() => {})])
  await pause(50) // The connection for messages and the subscriptions are ready.

  let lease
  await count('lock', async () => {
    lease = await lock.lock()
  })
  await count('unlock', () => lease.release())
  await client.run(async () => {
    await lock.lock()
    await count('nested lock', () => lock.lock())
    await count('nested unlock', () => lock.unlock())
    await lock.unlock()
  })
  const first = await lock.lock()
  const second = lock.lock()
  await pause(20) // The waiter has its place in the queue.
  let next
  await count('unlock and lock of a waiter in the process', async () => {
    await first.release()
    next = await second
    await pause(20) // The count includes requests that the release does not wait for.
  })
  await next.release()
  const held = await lock.lock()
  const more = Array.from({ length: 20 }, () => lock.using(() => {}))
  await pause(20)
  await count('20 waiters in the process, one after another', async () => {
    await held.release()
    await Promise.all(more)
  })
}

console.log('getLock')
await measure(client.getLock('round-trips'))
console.log('getFairLock')
await measure(client.getFairLock('round-trips'))

await client.close()
await server.stop()
