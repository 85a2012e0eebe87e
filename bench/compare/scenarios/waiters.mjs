// 16 waiters of one process queue behind a holder, which then releases the lock. Each waiter releases it at once.
import { setTimeout as pause } from 'node:timers/promises'
import { countsOf, median, resetCounts, show, spreadOf } from '../figures.mjs'
import { withShortDelays } from '../libraries/index.mjs'
import { withProcesses } from '../worker.mjs'

const WAITERS = 16
const TO_QUEUE_MS = 25
const STALLED_AFTER_MS = 5_000

export const tasks = {
  /** Queues and releases, again and again. Stops if a waiter is not served. */
  async drain(lock, name, ms) {
    const end = performance.now() + ms
    const drains = []
    const gaps = []
    let stalled = 0
    while (performance.now() < end && stalled === 0) {
      const one = await (lock.drain?.(name, WAITERS) ?? drainOnce(lock, name))
      stalled = one.stalled
      if (stalled > 0) break
      drains.push(one.tookMs)
      gaps.push(...one.gaps)
    }
    return {
      acquisitions: drains.length * (WAITERS + 1),
      stalled,
      // The median, because a run that the machine delayed says nothing about the library.
      rate: drains.length === 0 ? 0 : (WAITERS * 1_000) / median(drains),
      gap: spreadOf(gaps),
    }
  },
}

async function drainOnce(lock, name) {
  const release = await lock.acquire(name)
  const gaps = []
  let releasedAt = 0
  let served = 0
  const waiter = async () => {
    const letGo = await lock.acquire(name)
    const now = performance.now()
    gaps.push(now - releasedAt)
    served += 1
    releasedAt = now
    await letGo()
  }
  const all = Promise.all(Array.from({ length: WAITERS }, waiter))
  await pause(TO_QUEUE_MS)
  const start = performance.now()
  releasedAt = start
  await release()
  const isDone = await Promise.race([all.then(() => true), pause(STALLED_AFTER_MS, false)])
  return { tookMs: performance.now() - start, gaps, stalled: isDone ? 0 : WAITERS - served }
}

async function measure({ server, libraries, rounds, quick }) {
  const waiting = libraries.filter(({ waits, drains }) => waits || drains)
  const measured = withShortDelays(waiting).map((library) => ({ library, parts: [] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { library, parts } of measured) {
      if (round > 0 && library.slow) continue
      const name = `waiters:${round}`
      await server.admin.flushall()
      const part = await withProcesses(1, library, server.url, async ([process]) => {
        await process.prepare(name)
        await process.run('scenarios/waiters', 'drain', name, quick ? 100 : 200)
        await resetCounts(server.admin)
        const drained = await process.run('scenarios/waiters', 'drain', name, quick ? 150 : 500)
        return { ...drained, ...(await countsOf(server.admin)) }
      })
      parts.push(part)
    }
  }
  const floorRate = median(
    measured.find(({ library }) => library.id === 'token').parts.map(({ rate }) => rate),
  )
  const rows = measured.map(({ library, parts }) => ({
    label: library.label,
    isFloor: library.floor,
    rate: median(parts.map(({ rate }) => rate)),
    gapP50: median(parts.map(({ gap }) => gap.p50)),
    gapP99: median(parts.map(({ gap }) => gap.p99)),
    stalled: Math.max(...parts.map(({ stalled }) => stalled)),
    commands: median(parts.map(({ commands, acquisitions }) => commands / acquisitions)),
  }))
  return {
    tables: [
      {
        columns: [
          'library',
          'hand-offs/s',
          'of floor',
          'gap p50 ms',
          'gap p99 ms',
          'stalled',
          'commands each',
        ],
        rows: rows.map((row) => [
          row.label,
          show(row.rate, 0),
          show(row.rate / floorRate, 3),
          show(row.gapP50, 3),
          show(row.gapP99, 2),
          row.stalled === 0 ? '0' : `${row.stalled} of ${WAITERS}`,
          show(row.commands, 1),
        ]),
      },
    ],
    plots: [
      {
        name: 'd',
        title: `${WAITERS} waiters in one process: hand-offs per second`,
        digits: 0,
        bars: rows.map(({ label, rate, isFloor }) => ({ label, value: rate, isFloor })),
      },
    ],
    ratios: rows.map(({ label, rate }) => ({ label, figure: 'rate', ratio: rate / floorRate })),
  }
}

export const scenarios = [
  {
    id: 'd',
    title: `${WAITERS} waiters in one process`,
    about:
      'The waiters queue behind a holder, and each waiter releases the lock at once. A gap is the time from the ' +
      'call of release until the next waiter has the lock.',
    measure,
  },
]
