// The time from the call of release in one process until a waiter in another process has the lock. The connection is
// direct, or a network with a delay of some milliseconds each way.
import { setTimeout as pause } from 'node:timers/promises'
import { now, openSlowWay, quantile } from '../../support/support.mjs'
import { show } from '../figures.mjs'
import { startProcess, withProcesses } from '../worker.mjs'

const ONE_WAY_MS = [0, 1, 5]
const WARM_UP = 5
/** The time before the release. A part is random, because the next request of a poller can be due at any moment. */
const TO_QUEUE_MS = { least: 15, spread: 25 }

let release

export const tasks = {
  hold: async (lock, name) => {
    release = await lock.acquire(name)
  },
  letGo: async () => {
    const at = now()
    await release()
    return at
  },
  take: async (lock, name) => {
    const letGo = await lock.acquire(name)
    const at = now()
    await letGo()
    return at
  },
  slow: (_, port, oneWayMs) => openSlowWay(port, oneWayMs),
}

/** @returns a function that makes one hand-over */
async function pairOf(library, url, name) {
  const [holder, waiter] = await Promise.all([
    startProcess(library, url),
    startProcess(library, url),
  ])
  await holder.prepare(name)
  const run = (process, task) => process.run('scenarios/hand-over', task, name)
  return {
    once: async (wayMs) => {
      await run(holder, 'hold')
      const taken = run(waiter, 'take')
      await pause(TO_QUEUE_MS.least + 4 * wayMs + Math.random() * TO_QUEUE_MS.spread)
      const releasedAt = await run(holder, 'letGo')
      return (await taken) - releasedAt
    },
    end: () => Promise.all([holder.kill(), waiter.kill()]),
  }
}

async function measureNetwork({ server, quick }, libraries, wayMs, port) {
  await server.admin.flushall()
  const url = `redis://127.0.0.1:${port}`
  const rows = []
  for (const [i, library] of libraries.entries()) {
    // All libraries use one server, with a different name each, because their keys are incompatible.
    const pair = await pairOf(library, url, `hand-over:${i}`)
    rows.push({ library, label: library.label, pair, times: [] })
  }
  const rounds = quick ? 8 : 100
  for (let round = -(quick ? 2 : WARM_UP); round < rounds; round += 1) {
    for (const { library, pair, times } of rows) {
      if (library.peer && round >= rounds / 4) continue
      const took = await pair.once(wayMs)
      if (round >= 0) times.push(took)
    }
  }
  await Promise.all(rows.map(({ pair }) => pair.end()))
  return rows.map(({ label, times }) => ({ label, times, wayMs }))
}

async function measure(context) {
  // With their default delays, pollers would take as long as these delays.
  const libraries = context.libraries
    .filter(({ waits }) => waits)
    .map((library) =>
      library.polls
        ? {
            ...library,
            label: `${library.label}, 10 ms`,
            settings: { ...library.settings, pollMs: 10 },
          }
        : library,
    )
  const networks = []
  const [proxyLibrary] = libraries
  for (const wayMs of context.quick ? [0, 1] : ONE_WAY_MS) {
    const rows = await withProcesses(1, proxyLibrary, context.server.url, async ([process]) => {
      const { port } = context.server
      const reached =
        wayMs === 0 ? port : await process.run('scenarios/hand-over', 'slow', port, wayMs)
      return measureNetwork(context, libraries, wayMs, reached)
    })
    networks.push({ wayMs, rows })
  }
  return {
    tables: networks.map(({ wayMs, rows }) => {
      const floor = quantile(rows[0].times, 0.5)
      return {
        caption: wayMs === 0 ? 'Straight' : `Through ${wayMs} ms each way`,
        columns: ['library', 'hand-offs', 'p50 ms', 'p90 ms', 'p99 ms', 'of floor'],
        rows: rows.map(({ label, times }) => [
          label,
          String(times.length),
          ...[0.5, 0.9, 0.99].map((q) => show(quantile(times, q))),
          show(floor / quantile(times, 0.5)),
        ]),
      }
    }),
    plots: networks.map(({ wayMs, rows }) => ({
      name: `f-${wayMs}ms`,
      title: `Hand-over to another process, ${wayMs} ms each way: share that took at most so long`,
      x: 'milliseconds',
      y: 'share',
      lines: rows
        .filter(({ label }) => !label.includes('10 ms'))
        .map(({ label, times }) => ({ label, points: distribution(times) })),
    })),
    ratios: networks.flatMap(({ wayMs, rows }) =>
      rows.map(({ label, times }) => ({
        label: `${label}, ${wayMs} ms each way`,
        figure: 'time',
        ratio: quantile(rows[0].times, 0.5) / quantile(times, 0.5),
      })),
    ),
  }
}

const distribution = (times) =>
  [...times].sort((a, b) => a - b).map((time, i, all) => [time, (i + 1) / all.length])

export const scenarios = [
  {
    id: 'f',
    title: 'Time of a hand-off to another process',
    about:
      'One process holds the lock and another process waits. The time is from just before the call of release ' +
      'until the other process has the lock, by the clock of the machine.',
    measure,
  },
]
