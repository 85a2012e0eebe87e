// Measures the time of an acquisition with `durability`, compared with an acquisition that only the master confirms.
// The calls run one at a time, and 40 at a time, each on a different lock. One master has two replicas. Run
// `npm run build`, then `node bench/probes/durability/acquire.mjs [acquisitions]`. `--quick` takes a second.
import { Holdfast } from '../../../dist/esm/src/index.js'
import {
  aboutTheMachine,
  callsOf,
  freePort,
  quantile,
  startProcess,
  table,
  until,
} from '../../support/support.mjs'

const MODES = [
  { name: 'off', durability: undefined },
  { name: '1 replica', durability: { replicas: 1 } },
  { name: 'all (2 replicas)', durability: { replicas: 'all' } },
]
const AT_ONCE = [1, 40]
const ROUNDS = 5

const asked = process.argv[2]
await measure(asked === '--quick' ? 80 : Number(asked ?? 8_000))

async function measure(acquisitions) {
  console.log(aboutTheMachine())
  const servers = await Promise.all([1, 2, 3].map(async () => startProcess(await freePort())))
  const [master, ...replicas] = servers
  await master.admin.config('SET', 'repl-diskless-sync-delay', 0)
  for (const { admin } of replicas) await admin.replicaof('127.0.0.1', master.port)
  await until(async () => {
    await master.admin.set('replicated', '1')
    return (await master.admin.wait(2, 100)) === 2
  }, 'two replicas')
  const clients = MODES.map(({ durability }) => new Holdfast({ redis: master.url, durability }))
  const rows = []
  for (const atOnce of AT_ONCE) {
    const times = MODES.map(() => [])
    const waits = MODES.map(() => 0)
    // The modes take turns, so that other load of the machine affects all of them.
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [i, client] of clients.entries()) {
        await master.admin.config('RESETSTAT')
        const each = await take(client, Math.ceil(acquisitions / ROUNDS / atOnce), atOnce)
        if (round === 0) continue // The first round warms up.
        times[i].push(...each)
        waits[i] += (await callsOf(master.admin)).wait ?? 0
      }
    }
    for (const [i, { name }] of MODES.entries()) {
      const at = (q) => `${quantile(times[i], q).toFixed(2)} ms`
      rows.push([name, atOnce, at(0.5), at(0.99), (waits[i] / times[i].length).toFixed(2)])
    }
  }
  table(['durability', 'at once', 'p50', 'p99', 'WAIT for each'], rows)
  await Promise.all(clients.map((client) => client.close()))
  await Promise.all(servers.map((server) => server.stop()))
}

/** @returns the time of each acquisition, in milliseconds */
async function take(client, times, atOnce) {
  const each = []
  const one = async (n) => {
    const lock = client.getLock(`lock ${n}`)
    for (let i = 0; i < times; i += 1) {
      const start = performance.now()
      const lease = await lock.lock()
      each.push(performance.now() - start)
      await lease.release()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, (_, n) => one(n)))
  return each
}
