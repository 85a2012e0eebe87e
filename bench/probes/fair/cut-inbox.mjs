// Measures the cost of a cut in the connection on which a waiter receives its grant. Either the cut replaces the
// message, or the cut happens up to 1.5 ms before or after the release. In the second case, Redis may have noticed
// the cut or not. Two other waiters are behind this waiter.
// Run `npm run build`, then `node bench/probes/fair/cut-inbox.mjs [cuts of each kind] [lanes]`. `--quick` makes a
// short run. The program exits with code 1 if it finds an error.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import {
  now,
  quantile,
  serve,
  spin,
  startServer,
  startWorker,
  table,
  until,
} from '../../support/support.mjs'
import { Journal, keysLeft } from '../../support/witness.mjs'

const CLAIM_MS = 1_500

if (process.argv[2] === 'worker') work(process.argv[3])
else await measure(process.argv.slice(2))

function work(url) {
  const clients = new Map()
  const journal = new Journal(url)
  serve({
    /** @param port the port of the server, or of a proxy before the server */
    client: async (key, port) => {
      const client = new Holdfast({ redis: { host: '127.0.0.1', port } })
      clients.set(key, client)
      await client.getLock('connect').isLocked()
      return client.id
    },
    /** Holds the lock for a moment, and returns the start and the end of the hold. */
    take: async (key, name) => {
      const lease = await clients.get(key).getFairLock(name).lock()
      const took = now()
      await journal.enter(lease)
      await journal.leave(lease)
      const left = now()
      const wasHeld = await lease.release()
      return { key, took, left, wasHeld }
    },
    close: async () => {
      await Promise.all([...clients.values()].map((client) => client.close()))
      journal.close()
    },
  })
}

async function measure(args) {
  const quick = args.includes('--quick')
  const [cuts = quick ? 20 : 1_000, lanes = quick ? 5 : 20] = args
    .filter((arg) => arg !== '--quick')
    .map(Number)
  const server = await startServer()
  const holder = new Holdfast({ redis: server.url })
  const journal = new Journal(server.url)
  const [victims, others] = [0, 1].map(() => startWorker(import.meta.url, server.url))
  for (const key of ['second', 'third']) await others.call('client', key, server.port)
  const results = { swallowed: [], raced: [] }

  async function lane(i) {
    const name = `cut:${i}`
    const way = await openWay(server.port)
    const id = await victims.call('client', name, way.port)
    const queue = `holdfast_queue:{${name}}`
    const inQueue = (count) =>
      until(async () => (await server.admin.zcard(queue)) === count, `${count} in the queue`)
    for (let n = i; n < 2 * cuts; n += lanes) {
      const kind = n % 2 === 0 ? 'swallowed' : 'raced'
      const lease = await holder.getFairLock(name).lock()
      const first = victims.call('take', name, name)
      await inQueue(1)
      const second = others.call('take', 'second', name)
      await inQueue(2)
      const third = others.call('take', 'third', name)
      await inQueue(3)
      await until(async () => {
        const mark = await server.admin.hget(`holdfast_waiting:{${name}}`, id)
        return / [12] /.test(mark ?? '')
      }, 'the subscription to the inbox')
      await pause(Math.random() * 600) // Any time between two heartbeats.
      const cut = kind === 'swallowed' ? way.cutAtMessage() : undefined
      const aheadMs = kind === 'swallowed' ? 0 : Math.random() * 3 - 1.5
      if (aheadMs > 0) {
        way.cutNow()
        await spin(aheadMs)
      }
      const start = now()
      const released = lease.release()
      if (aheadMs < 0) {
        await spin(-aheadMs)
        way.cutNow()
      }
      await released
      const turns = (await Promise.all([first, second, third])).sort((a, b) => a.took - b.took)
      await cut
      results[kind].push({
        order: turns.map(({ key }) => (key === name ? 1 : key === 'second' ? 2 : 3)).join(''),
        stallMs: Math.max(
          ...turns.map(({ took }, at) => took - (at === 0 ? start : turns[at - 1].left)),
        ),
        lost: turns.some(({ wasHeld }) => !wasHeld),
      })
    }
    return { name, way }
  }

  const done = await Promise.all(Array.from({ length: lanes }, (_, i) => lane(i)))
  let overlaps = 0
  let regressions = 0
  for (const { name } of done) {
    const seen = await journal.read(name)
    overlaps += seen.overlaps
    regressions += seen.regressions
  }
  await Promise.all([victims.call('close'), others.call('close'), holder.close()])
  const left = await keysLeft(server.admin)
  const kinds = Object.entries(results)
  table(
    [
      'the inbox was',
      'times',
      'stall ms p50',
      'p99',
      'max',
      `> ${CLAIM_MS} ms`,
      'in order',
      'behind one',
      'behind both',
      'others out of order',
      'lost',
    ],
    kinds.map(([kind, rounds]) => {
      const stalls = rounds.map(({ stallMs }) => stallMs)
      const orders = rounds.map(({ order }) => order)
      const times = (...these) => orders.filter((order) => these.includes(order)).length
      return [
        kind === 'swallowed' ? 'cut instead of the message' : 'cut around the release',
        rounds.length,
        ...[0.5, 0.99, 1].map((q) => quantile(stalls, q).toFixed(1)),
        stalls.filter((ms) => ms > CLAIM_MS).length,
        times('123'),
        times('213'),
        times('231'),
        times('132', '312', '321'),
        rounds.filter(({ lost }) => lost).length,
      ]
    }),
  )
  console.log(`overlaps: ${overlaps}, token regressions: ${regressions}, keys left: ${left.length}`)
  const all = kinds.flatMap(([, rounds]) => rounds)
  const wrong = all.some(({ order, lost }) => lost || order.indexOf('2') > order.indexOf('3'))
  process.exitCode = wrong || overlaps + regressions + left.length > 0 ? 1 : 0
  for (const worker of [victims, others]) worker.kill()
  for (const { way } of done) way.close()
  journal.close()
  await server.stop()
}

/** A proxy for one client. The proxy can cut the connection that has the subscription. */
async function openWay(target) {
  let inbox // Both ends of the connection.
  let atMessage
  const cutNow = () => {
    for (const socket of inbox ?? []) socket.destroy()
  }
  const listener = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    const ends = [client, upstream]
    for (const [from, to] of [ends, [upstream, client]]) {
      from.setNoDelay(true)
      from.on('error', () => {})
      from.on('close', () => to.destroy())
    }
    client.on('data', (chunk) => {
      if (chunk.includes('subscribe')) inbox = ends
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (inbox === ends && atMessage !== undefined && chunk.includes('$7\r\nmessage\r\n')) {
        cutNow()
        atMessage()
        atMessage = undefined
      } else {
        client.write(chunk)
      }
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: listener.address().port,
    cutNow,
    /** Resolves when the connection was cut. */
    cutAtMessage: () =>
      new Promise((resolve) => {
        atMessage = resolve
      }),
    close: () => {
      cutNow()
      listener.close()
    },
  }
}
