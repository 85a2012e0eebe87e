// Measures the time from a release to a waiter in the other language. The time is from just before the call of
// unlock() until lock() returns. The program needs a JDK and Maven, see CONTRIBUTING.md. Run `npm run build`, then
// `node bench/probes/java/wake-up.mjs [rounds] [line or release of Redisson]`.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { startJava } from '../../support/java.mjs'
import { now, spread, startServer } from '../../support/support.mjs'

const WARM_UP = 100
const rounds = Number(process.argv[2] ?? 1_000)
const server = await startServer()
const java = await startJava(process.argv[3])
const name = 'wake-up'
const client = new Holdfast({ redis: server.url })
const lock = client.getLock(name)
for (const one of ['a', 'b']) await java.ask('open', { client: one, port: server.port })
const inJava = (one) => {
  const ask = (op) => java.ask(op, { client: one, names: [name], thread: one })
  return { lock: () => ask('lock'), unlock: () => ask('unlock') }
}

/** The functions of both languages: acquire and release, with the times of the grant and of the release. */
const node = {
  async lock() {
    const lease = await lock.lock()
    return { at: now(), lease }
  },
  async unlock({ lease }) {
    const at = now()
    await lease.release()
    return at
  },
}
const javaOf = (one) => ({
  lock: async () => ({ at: (await inJava(one).lock()).to }),
  unlock: async () => (await inJava(one).unlock()).from,
})

async function measure(title, holder, waiter) {
  const latencies = []
  for (let i = 0; i < WARM_UP + rounds; i++) {
    const held = await holder.lock()
    const waiting = waiter.lock()
    while ((await lock.inspect()).waiters === 0) await pause(1)
    await pause(3) // The waiter tries again when its subscription is confirmed.
    const start = await holder.unlock(held)
    const got = await waiting
    await waiter.unlock(got)
    if (i >= WARM_UP) latencies.push(got.at - start)
  }
  console.log(`${title}, ${rounds} rounds: ${spread(latencies)}`)
}

await measure('from Node.js to Java', node, javaOf('a'))
await measure('from Java to Node.js', javaOf('a'), node)
await measure('from Java to Java', javaOf('a'), javaOf('b'))
await client.close()
java.stop()
await server.stop()
