// More and more names, each used once. The scenario shows if memory grows or the rate falls.
import { show } from '../figures.mjs'
import { heapBytes, serverBytes } from '../memory.mjs'
import { withProcesses } from '../worker.mjs'

const IN_FLIGHT = 64

export const tasks = {
  /** Uses new names. Returns the rate, and the memory afterwards. */
  async use(lock, from, to) {
    let next = from
    const lane = async () => {
      while (next < to) {
        const name = `names:${next}`
        next += 1
        const release = await lock.acquire(name)
        await release()
      }
    }
    const start = performance.now()
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
    const rate = ((to - from) / (performance.now() - start)) * 1_000
    return { rate, heap: await heapBytes() }
  },
}

async function measure({ server, libraries, quick }) {
  const upTo = quick ? [1e2, 1e3] : [1e3, 1e4, 1e5, 1e6]
  const measured = libraries.filter(({ id }) => ['floor', 'holdfast', 'redlock'].includes(id))
  const lines = []
  for (const library of measured) {
    await server.admin.flushall()
    const before = await serverBytes(server.admin)
    const points = await withProcesses(1, library, server.url, async ([process]) => {
      await process.run('scenarios/names', 'use', -2_000, 0) // Warms up the code.
      const used = []
      for (const [i, to] of upTo.entries()) {
        const part = await process.run('scenarios/names', 'use', upTo[i - 1] ?? 0, to)
        const grown = (await serverBytes(server.admin)) - before
        used.push({ names: to, ...part, server: grown, keys: await server.admin.dbsize() })
      }
      return used
    })
    lines.push({ label: library.label, points })
  }
  const mebibytes = (bytes) => show(bytes / 2 ** 20, 1)
  return {
    tables: [
      {
        columns: ['names used', 'library', 'per second', 'client MiB', 'keys left', 'server MiB'],
        rows: upTo.flatMap((names, i) =>
          lines.map(({ label, points }) => [
            show(names, 0),
            label,
            show(points[i].rate, 0),
            mebibytes(points[i].heap),
            show(points[i].keys, 0),
            mebibytes(points[i].server),
          ]),
        ),
      },
    ],
    plots: [
      {
        name: 'k',
        title: 'Locks per second as the number of names grows',
        x: 'names used',
        y: 'per second',
        lines: lines.map(({ label, points }) => ({
          label,
          points: points.map(({ names, rate }) => [names, rate]),
        })),
      },
    ],
  }
}

export const scenarios = [
  {
    id: 'k',
    title: 'More and more names',
    about: `The program locks and unlocks each name once, ${IN_FLIGHT} names at a time.`,
    measure,
  },
]
