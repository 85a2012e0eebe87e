// Measures the time of lock() and release() on 1, 3 and 5 masters, compared with one server. It also measures 5
// masters of which one is stopped or dead. Each server counts its requests. All cases run one after another in each
// round, so a busy machine affects all of them.
// Run `npm run build`, then `node bench/probes/quorum/latency.mjs [rounds]`. `--quick` makes a short run.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { startMasters } from '../../support/masters.mjs'
import { aboutTheMachine, callsOf, now, quantile, table } from '../../support/support.mjs'

const quick = process.argv.includes('--quick')
const [rounds = quick ? 30 : 2_000] = process.argv
  .slice(2)
  .filter((arg) => /^\d+$/.test(arg))
  .map(Number)

const [single, ...masters] = await startMasters(8)
const [a, b, c, d, e, stopped, dead] = masters
for (const master of masters) await master.letVote()
const cases = [
  caseOf('one server', [single]),
  caseOf('1 master', [a]),
  caseOf('3 masters', [a, b, c]),
  caseOf('5 masters', [a, b, c, d, e]),
  caseOf('5, one stopped', [a, b, c, d, stopped]),
  caseOf('5, one dead', [a, b, c, d, dead]),
]

function caseOf(what, servers) {
  const isSingle = servers[0] === single
  const urls = servers.map(({ url }) => url)
  const client = new Holdfast(isSingle ? { redis: urls[0] } : { masters: urls })
  client.on('error', () => {})
  return {
    what,
    servers,
    client,
    lock: client.getLock(`latency ${what}`),
    acquire: [],
    release: [],
  }
}

async function once({ lock, acquire, release }) {
  const start = now()
  const lease = await lock.lock()
  const held = now()
  await lease.release()
  acquire.push(held - start)
  release.push(now() - held)
}

// Loads the scripts, opens the connections and creates the counters before the measurement.
for (let i = 0; i < 20; i++) for (const one of cases) await once(one)
stopped.signal('SIGSTOP')
await dead.kill()
await pause(500)
for (const one of cases) Object.assign(one, { acquire: [], release: [] })

for (let round = 0; round < rounds; round++) {
  // Each case is the first case of a round in turn.
  for (const i of cases.keys()) await once(cases[(i + round) % cases.length])
}

/** The requests at each server for one acquisition and its release. */
async function requests({ lock, servers, what }) {
  const times = quick ? 10 : 200
  const alive = servers.filter((server) => server !== stopped && server !== dead)
  for (const { admin } of alive) await admin.config('RESETSTAT')
  for (let i = 0; i < times; i++) await lock.using(() => {})
  await pause(50)
  const each = []
  for (const { admin } of alive) {
    const { evalsha = 0, eval: sources = 0 } = await callsOf(admin)
    each.push((evalsha + sources) / times)
  }
  return [what, Math.min(...each).toFixed(2), Math.max(...each).toFixed(2)]
}

const ms = (values, q) => `${quantile(values, q).toFixed(2)} ms`
console.log(aboutTheMachine())
table(
  [`${rounds} rounds`, 'lock() p50', 'p99', 'release() p50', 'p99'],
  cases.map(({ what, acquire, release }) => [
    what,
    ms(acquire, 0.5),
    ms(acquire, 0.99),
    ms(release, 0.5),
    ms(release, 0.99),
  ]),
)
const counted = []
for (const one of cases) counted.push(await requests(one))
table(['requests at each live server', 'fewest', 'most'], counted)

stopped.signal('SIGCONT')
await Promise.all(cases.map(({ client }) => client.close()))
await Promise.all([single, a, b, c, d, e, stopped].map((server) => server.stop()))
