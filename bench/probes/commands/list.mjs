// Measures the time of `npx holdfast list` over many names, and its effect on other clients. Another process measures
// each PING, and each lock with its release. It does this while the list runs, and without the list.
//
//   node bench/probes/commands/list.mjs [names] [rounds]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { forkSelf, now, startServer } from '../../support/support.mjs'

const [, , role, url] = process.argv
if (role === 'client') await beClient(url)
else await measure(Number(role ?? 100_000), Number(url ?? 3))

/** Sends requests without a pause, and reports the measured times on request. */
async function beClient(url) {
  const redis = new Redis(url)
  const holdfast = new Holdfast({ redis: url })
  let times = { ping: [], lock: [] }
  process.on('message', () => {
    process.send(times)
    times = { ping: [], lock: [] }
  })
  const time = async (list, work) => {
    const from = now()
    await work()
    times[list].push(now() - from)
  }
  const lock = holdfast.getLock('beside')
  process.send('ready')
  for (;;) {
    await time('ping', () => redis.ping())
    await time('lock', async () => (await lock.lock()).release())
  }
}

async function measure(names, rounds) {
  const server = await startServer()
  await fill(server.admin, names)
  const client = forkSelf(import.meta.url, 'client', server.url)
  await once(client, 'message')
  const told = async () => {
    client.send('tell')
    return (await once(client, 'message'))[0]
  }
  for (let round = 1; round <= rounds; round++) {
    await told()
    const { tookMs, cost } = await list(server.url)
    const beside = await told()
    await new Promise((resolve) => setTimeout(resolve, tookMs))
    const without = await told()
    console.log(`round ${round}: list of ${names} names in ${Math.round(tookMs)} ms; ${cost}`)
    for (const what of ['ping', 'lock']) {
      console.log(`  ${what.padEnd(4)} without: ${figures(without[what])}`)
      console.log(`  ${what.padEnd(4)} beside:  ${figures(beside[what])}`)
    }
  }
  client.kill()
  await server.stop()
}

/** One name in a hundred has a holder. The other names have only a counter. */
async function fill(admin, names) {
  await admin.eval(
    `for i = 1, ARGV[1] do
      local name = string.format('order:%08d', i)
      redis.call('SET', 'redisson_lock_token:{' .. name .. '}', '1795326703508402', 'PX', 3600000)
      if i % 100 == 0 then
        redis.call('HSET', name, 'NxwZr5PVhg5sb0Me8yo04:' .. i, 1)
        redis.call('PEXPIRE', name, 3600000)
      end
    end`,
    0,
    names,
  )
}

async function list(url) {
  const main = fileURLToPath(new URL('../../../dist/esm/tools/cli/main.js', import.meta.url))
  const from = now()
  const child = spawn(process.execPath, [main, 'list', '--json', url], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let cost = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    cost += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`list ended with ${code}: ${cost}`)
  return { tookMs: now() - from, cost: cost.trim() }
}

function figures(times) {
  const sorted = times.sort((a, b) => a - b)
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
  const parts = [`median ${at(0.5).toFixed(2)}`, `p99 ${at(0.99).toFixed(2)}`]
  return `${parts.join(', ')}, p99.9 ${at(0.999).toFixed(2)}, longest ${at(1).toFixed(2)} ms of ${sorted.length}`
}
