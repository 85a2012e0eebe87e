// What a user bundles: locks, and where it has a thread blocks the event loop for longer than a lease.
//
//   app.js <url> none|packaged|<file of the worker>
import { Holdfast } from 'holdfast'
import { Redis } from 'ioredis'

const [url, worker] = process.argv.slice(2)
const threads = { none: false, packaged: true }
const watchdogThread = threads[worker] ?? { workerUrl: worker }

const redis = new Redis(url)
const holdfast = new Holdfast({ redis: url, leaseMs: 2_000, heldWarningMs: 20, watchdogThread })

// Minifiers keep the name of what is reachable from elsewhere.
globalThis.user = {
  async acquiresHere(name) {
    const lease = await holdfast.getLock(name).lock()
    return lease
  },
}

async function connections() {
  return String(await redis.client('LIST'))
    .trim()
    .split('\n').length
}

async function main() {
  const before = await connections()
  const warned = new Promise((resolve) => {
    process.once('warning', ({ message }) => resolve(message.split('\n')[1]))
  })
  const lease = await globalThis.user.acquiresHere(`bundled:${process.pid}`)
  const firstLine = await warned
  if (watchdogThread !== false) {
    // Its own, and that of the thread.
    while ((await connections()) < before + 2) await new Promise((go) => setTimeout(go, 20))
    await new Promise((go) => setTimeout(go, 300))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_600)
  }
  console.log(
    JSON.stringify({
      hasToken: lease.token > 0,
      valid: lease.valid,
      isCallerNamed: /acquiresHere/.test(firstLine),
    }),
  )
  await lease.release()
}

main()
  .catch(({ code, message }) => console.log(JSON.stringify({ code, message })))
  .finally(async () => {
    redis.disconnect()
    await holdfast.close()
  })
