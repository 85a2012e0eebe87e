// Shared by the scenarios with contention. Callers in several processes acquire one lock in turns, and each caller
// requests it again at once. The server counts its requests in the middle of the run.
import { setTimeout as pause } from 'node:timers/promises'
import { now } from '../support/support.mjs'
import { countsOf, jain, resetCounts, spreadOf, sum } from './figures.mjs'
import { withProcesses } from './worker.mjs'

const SETTLE_MS = 300
/** The program does not wait longer for callers that have not finished this long after the end. */
const GRACE_MS = 500

export const tasks = {
  /** @returns for each caller the times of its acquisitions, and the wait before each acquisition */
  async take(lock, plan) {
    if (lock.take) return lock.take(plan)
    const { name, callers, holdMs, startAt, ms } = plan
    await pause(startAt - now())
    const end = startAt + ms
    const turns = Array.from({ length: callers }, () => [])
    const caller = async (own) => {
      for (let asked = now(); asked < end; asked = now()) {
        const release = await lock.acquire(name)
        const at = now()
        own.push([at, at - asked])
        if (holdMs > 0) await pause(holdMs)
        await release()
      }
    }
    await Promise.race([Promise.all(turns.map(caller)), pause(end - now() + GRACE_MS)])
    return turns
  },
}

/** Takes turns for `ms`, in new processes. The numbers leave out the warm-up. */
export async function takeTurns(server, library, { processes, callers, holdMs, ms, settings }) {
  await server.admin.flushall()
  const name = 'turns'
  const measureAll = async (all) => {
    await all[0].prepare(name)
    const startAt = now() + 30
    const warmUpMs = SETTLE_MS + processes * callers * (holdMs + 2)
    const plan = { name, callers, holdMs, startAt, ms: warmUpMs + ms }
    const taken = Promise.all(all.map((one) => one.run('turns', 'take', plan)))
    await pause(startAt + warmUpMs - now())
    await resetCounts(server.admin)
    const from = now()
    const cpuBefore = (await countsOf(server.admin)).cpuMs
    await pause(ms)
    const counts = await countsOf(server.admin)
    const to = now()
    const perCaller = (await taken)
      .flat()
      .map((turns) => turns.filter(([at]) => at >= from && at < to))
    return summary(perCaller, { ...counts, cpuMs: counts.cpuMs - cpuBefore }, to - from)
  }
  return withProcesses(processes, library, server.url, measureAll, settings)
}

function summary(perCaller, counts, ms) {
  const shares = perCaller.map((turns) => turns.length)
  const total = sum(shares)
  const inOrder = perCaller
    .flatMap((turns, caller) => turns.map(([at]) => ({ at, caller })))
    .sort((a, b) => a.at - b.at)
  const handOvers = inOrder.filter(({ caller }, i) => i > 0 && caller !== inOrder[i - 1].caller)
  const waits = spreadOf(perCaller.flat().map(([, waited]) => waited))
  return {
    handOvers: (handOvers.length / ms) * 1_000,
    acquisitions: (total / ms) * 1_000,
    waitP50: waits.p50,
    waitP99: waits.p99,
    jain: jain(shares),
    starved: shares.filter((count) => count === 0).length,
    scripts: counts.scripts / total,
    commands: counts.commands / total,
    microseconds: counts.microseconds / total,
    cpuMicroseconds: (counts.cpuMs * 1_000) / total,
  }
}
