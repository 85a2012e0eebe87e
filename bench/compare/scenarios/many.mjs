// Many locks held at once: the cost of their renewal, and the memory of held locks and of waiters.
import { setTimeout as pause } from 'node:timers/promises'
import { countsOf, resetCounts, serverCpuMs, show } from '../figures.mjs'
import { heapBytes, serverBytes } from '../memory.mjs'
import { startProcess, withProcesses } from '../worker.mjs'

const AT_ONCE = 500
const LEASE_MS = 12_000
const TO_SETTLE_MS = 1_500
const nameOf = (i) => `many:${i}`

const held = []

export const tasks = {
  /** Acquires `count` locks with different names, and keeps them. */
  async hold(lock, count) {
    for (let from = 0; from < count; from += AT_ONCE) {
      const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) =>
        lock.acquire(nameOf(from + i)),
      )
      held.push(...(await Promise.all(some)))
    }
  },
  /** Waits for `count` locks that another process holds. */
  async wait(lock, count) {
    for (let i = 0; i < count; i += 1) {
      held.push(lock.acquire(nameOf(i)))
      if (i % AT_ONCE === 0) await pause(20)
    }
    for (const waiting of held) waiting.catch(() => {})
    await pause(TO_SETTLE_MS)
  },
  heap: () => heapBytes(),
  /** CPU time without any requests to the library, in milliseconds. */
  async rest(_, ms) {
    const before = process.cpuUsage()
    await pause(ms)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  },
}

const floorThatRenews = {
  id: 'renewing',
  label: 'floor: PEXPIRE, pipelined',
  module: 'floor-renewing',
}
const ids =
  (...wanted) =>
  ({ id }) =>
    wanted.includes(id)

async function measureRenewals({ server, libraries, quick }) {
  const measured = [floorThatRenews, ...libraries.filter(ids('holdfast', 'redis-semaphore'))]
  const leaseMs = quick ? 3_000 : LEASE_MS
  const rows = []
  for (const count of quick ? [500] : [10_000, 100_000]) {
    for (const library of measured) {
      await server.admin.flushall()
      const used = await withProcesses(
        1,
        library,
        server.url,
        async ([process]) => {
          await process.run('scenarios/many', 'hold', count)
          await resetCounts(server.admin)
          const serverBefore = await serverCpuMs(server.admin)
          const clientMs = await process.run('scenarios/many', 'rest', leaseMs)
          const { scripts, commands, cpuMs } = await countsOf(server.admin)
          const lost = count - (await server.admin.dbsize())
          return { scripts, commands, clientMs, serverMs: cpuMs - serverBefore, lost }
        },
        { leaseMs },
      )
      rows.push([
        show(count, 0),
        library.label,
        show(used.scripts, 0),
        show(used.commands, 0),
        show((used.clientMs / leaseMs) * 100),
        show((used.serverMs / leaseMs) * 100),
      ])
    }
  }
  return {
    tables: [
      {
        columns: [
          'held locks',
          'library',
          'scripts in a lease',
          'commands in a lease',
          'client, % of a core',
          'server, % of a core',
        ],
        rows,
      },
    ],
  }
}

async function measureMemory({ server, libraries, quick }) {
  const count = quick ? 300 : 5_000
  const rows = []
  for (const library of libraries.filter(
    ids('floor', 'holdfast', 'holdfast-fair', 'redlock', 'redis-semaphore', 'simple-redis-mutex'),
  )) {
    await server.admin.flushall()
    const holder = await startProcess(library, server.url)
    const forHeld = await grownBy(server, holder, () => holder.run('scenarios/many', 'hold', count))
    let forWaiting
    if (library.waits) {
      const waiter = await startProcess(library, server.url)
      forWaiting = await grownBy(server, waiter, () => waiter.run('scenarios/many', 'wait', count))
      await waiter.kill()
    }
    await holder.kill()
    const each = (bytes) => show(bytes / count, 0)
    rows.push([
      library.label,
      each(forHeld.client),
      each(forHeld.server),
      each(forWaiting?.client),
      each(forWaiting?.server),
    ])
  }
  return {
    tables: [
      {
        caption: `Bytes for each of ${show(count, 0)} locks of different names`,
        columns: [
          'library',
          'held: client',
          'held: server',
          'waited for: client',
          'waited for: server',
        ],
        rows,
      },
    ],
  }
}

async function grownBy(server, process, work) {
  const before = [await process.run('scenarios/many', 'heap'), await serverBytes(server.admin)]
  await work()
  const client = (await process.run('scenarios/many', 'heap')) - before[0]
  return { client, server: (await serverBytes(server.admin)) - before[1] }
}

export const scenarios = [
  {
    id: 'h',
    title: 'Renewing many held locks',
    about: `Leases of ${LEASE_MS / 1_000} s, measured for the time of one lease. Holdfast and the floor renew three times in this time. With the default lease of 30 s, all shares of a core are two fifths of these numbers.`,
    measure: measureRenewals,
  },
  {
    id: 'j',
    title: 'Memory of held locks, and of waiters',
    about: 'Heap and buffers after a garbage collection, and the memory that the server reports.',
    measure: measureMemory,
  },
]
