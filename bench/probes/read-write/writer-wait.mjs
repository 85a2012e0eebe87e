// Measures how long a writer waits while other callers read without a pause. The holds of 8 readers overlap, and each
// reader requests the lock again at once. The writer pauses for 20 ms between two holds. With `--java`, the readers
// and the writer use Holdfast or Redisson, in all four combinations, in turn. The readers are in two processes, or in
// two clients in one JVM. A round counts as "no write" if the writer has no lock at its end.
// Run `npm run build`, then `node bench/probes/read-write/writer-wait.mjs [seconds] [rounds] [--java]`. `--quick`
// makes a short run.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { startJava } from '../../support/java.mjs'
import { now, quantile, serve, startServer, startWorker, table } from '../../support/support.mjs'

const READERS = 8
/** Each reader holds for a different time, so the readers seldom release at the same time. */
const holdMsOf = (reader) => 15 + 2 * reader
const WRITE_MS = 1
const AWAY_MS = 20

if (process.argv[2] === 'worker') work(process.argv[3])
else await measure(process.argv.slice(2))

function work(url) {
  const client = new Holdfast({ redis: url })
  serve({
    ready: () => client.getLock('ready').isLocked(),
    /** Resolves with the wait before each acquisition. */
    read: async (name, holdMs, startAt, ms) => {
      const lock = client.getReadWriteLock(name).readLock()
      const waits = []
      await pause(startAt - now())
      for (let asked = now(); asked < startAt + ms; asked = now()) {
        const lease = await lock.lock()
        waits.push(now() - asked)
        await pause(holdMs)
        await lease.release()
      }
      return waits
    },
    /** Resolves with the wait, or with null if the writer did not get the lock. */
    write: async (name, waitMs) => {
      const asked = now()
      const lease = await client.getReadWriteLock(name).writeLock().tryLock(waitMs)
      const waited = now() - asked
      if (lease === null) return null
      await pause(WRITE_MS)
      await lease.release()
      return waited
    },
    close: () => client.close(),
  })
}

async function measure(args) {
  const quick = args.includes('--quick')
  const withJava = args.includes('--java')
  const [seconds = quick ? 0.5 : 10, rounds = quick ? 1 : 3] = args
    .filter((arg) => !arg.startsWith('--'))
    .map(Number)
  const ms = seconds * 1_000
  const server = await startServer()
  const workers = Array.from({ length: 3 }, () => startWorker(import.meta.url, server.url))
  await Promise.all(workers.map((worker) => worker.call('ready')))
  const sides = { Holdfast: holdfast() }
  if (withJava) sides.Redisson = await redisson()

  const names = Object.keys(sides)
  const pairs = names.flatMap((reads) => names.map((writes) => ({ reads, writes })))
  const measured = pairs.map((pair) => ({ ...pair, written: [], read: [], vain: 0 }))
  for (let round = 0; round < rounds; round += 1) {
    for (const each of measured) {
      const name = `${each.reads}:${each.writes}:${round}`
      const startAt = now() + 50
      const end = startAt + ms
      const reading = Array.from({ length: READERS }, (_, i) =>
        sides[each.reads].read(i, name, holdMsOf(i), startAt, ms),
      )
      await pause(startAt - now() + 100)
      while (now() < end - 50) {
        const waited = await sides[each.writes].write(name, Math.ceil(end - now()))
        if (waited === null) each.vain += 1
        else each.written.push(waited)
        await pause(AWAY_MS)
      }
      each.read.push(...(await Promise.all(reading)).flat())
    }
  }
  const spent = (ms * rounds) / 1_000
  const show = (waits, q) => (waits.length === 0 ? '–' : `${quantile(waits, q).toFixed(0)} ms`)
  table(
    [
      'readers, writer',
      'writes/s',
      'wait p50',
      'p99',
      'max',
      'no write',
      'reads/s',
      'wait p50',
      'max',
    ],
    measured.map(({ reads, writes, written, vain, read }) => [
      `${reads}, ${writes}`,
      (written.length / spent).toFixed(1),
      ...[0.5, 0.99, 1].map((q) => show(written, q)),
      vain,
      (read.length / spent).toFixed(0),
      ...[0.5, 1].map((q) => show(read, q)),
    ]),
  )
  for (const worker of workers) await worker.call('close')
  for (const worker of workers) worker.kill()
  sides.Redisson?.stop()
  await server.stop()

  function holdfast() {
    const [writer, ...readers] = workers
    return {
      read: (i, ...plan) => readers[i % readers.length].call('read', ...plan),
      write: (name, waitMs) => writer.call('write', name, waitMs),
    }
  }

  async function redisson() {
    const java = await startJava()
    const clients = ['writer', 'a', 'b']
    for (const client of clients) await java.ask('open', { client, port: server.port })
    const READ = 'RReadWriteLock.readLock'
    const WRITE = 'RReadWriteLock.writeLock'
    return {
      read: async (i, name, holdMs, startMs, ms) => {
        const who = { client: clients[1 + (i % 2)], thread: `reader ${i}`, kind: READ }
        const plan = { names: [name], threads: 1, holdMs, startMs, ms }
        const { value } = await java.ask('take', { ...who, ...plan })
        return value.flat().map(([, waited]) => waited)
      },
      write: async (name, waitMs) => {
        const who = { client: 'writer', thread: 'writer', kind: WRITE, names: [name] }
        const { value, from, to } = await java.ask('tryLock', { ...who, waitMs })
        if (!value) return null
        await pause(WRITE_MS)
        await java.ask('unlock', who)
        return to - from
      },
      stop: () => java.stop(),
    }
  }
}
