import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast } from '../../../src/index.ts'
import { newDashboard } from '../../../tools/dashboard/dashboard.ts'
import { readHistory, recordHistory } from '../../../tools/history/history.ts'
import { holdfast } from '../../doctor/diagnose.ts'
import { eventually } from '../../support/eventually.ts'

/** One visit of a tool with a login. On the server, each kind is held and has a waiter. */
export interface Visit {
  readonly url: string
  readonly keyPrefix: string
  /** The names of the locks, as services use them. */
  readonly names: readonly string[]
}

type Tool = (visit: Visit) => Promise<void>

/** The arguments that all commands of the program have in common. */
const at = ({ url, keyPrefix }: Visit) => [
  ...['--url', url],
  ...(keyPrefix === '' ? [] : ['--key-prefix', keyPrefix]),
]

async function run(args: readonly string[], interruptAfterMs?: number): Promise<string> {
  const { code, out, err } = await holdfast(args, {
    ...(interruptAfterMs !== undefined && {
      interrupted: () => AbortSignal.timeout(interruptAfterMs),
    }),
  })
  if (code > 1) throw new Error(`${args.join(' ')} ended with ${code}: ${err}`)
  return out
}

async function ask(visit: Visit, release: boolean): Promise<void> {
  const redis = visit.url
  const history = { redis: toOptions(visit.url) }
  const dashboard = newDashboard({
    redis,
    authorize: () => 'admin',
    release,
    history,
  })
  const fetch = async (path: string, init: RequestInit = {}) => {
    const response = await dashboard.fetch(new Request(`http://d/locks/api/${path}`, init))
    const text = await response.text()
    if (response.status >= 400) throw new Error(`${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }
  try {
    await fetch('rows')
    for (const name of visit.names) {
      await fetch(`lock?key=${encodeURIComponent(visit.keyPrefix + name)}`)
    }
    for (let looks = 0; looks < 4; looks++) {
      await fetch('past')
      await pause(100) // the history is read after the first answer, and then followed
    }
    if (!release) return
    for (const name of visit.names) {
      const key = visit.keyPrefix + name
      const { lock } = await fetch(`lock?key=${encodeURIComponent(key)}`)
      if (/latch|barrier|semaphore|rate/.test(lock.kind)) continue
      const [holder] = lock.holders
      if (holder === undefined) continue
      const asked = new URLSearchParams({ key, owner: holder.owner, token: lock.token ?? '' })
      await fetch(`release?${asked}`, { method: 'POST', headers: { 'holdfast-dashboard': '1' } })
    }
  } finally {
    await dashboard.close()
  }
}

export const TOOLS: Readonly<Record<string, Tool>> = {
  list: async (visit) => {
    await run(['list', ...at(visit)])
    await run(['list', '--all', ...at(visit)])
  },
  inspect: async (visit) => {
    await Promise.all(visit.names.map((name) => run(['inspect', name, ...at(visit)])))
  },
  watch: async (visit) => {
    await run(['watch', ...at(visit)], 700)
  },
  leaks: async (visit) => {
    await run(['leaks', ...at(visit)])
  },
  'release --ask': async (visit) => {
    for (const name of visit.names) {
      await holdfast(['release', name, '--ask', '--timeout-ms', '300', ...at(visit)])
    }
  },
  'release --force': async (visit) => {
    for (const name of visit.names) {
      const args = ['release', name, '--force', '--yes', ...at(visit)]
      await holdfast(args)
    }
  },
  history: async (visit) => {
    await run(['history', ...at(visit)])
    // Follows the history like `--follow`, which ends only with the program.
    const signal = AbortSignal.timeout(500)
    for await (const _ of readHistory({ redis: toOptions(visit.url), follow: true, signal }));
  },
  doctor: async (visit) => {
    await run(['doctor', ...at(visit)])
  },
  dashboard: (visit) => ask(visit, false),
  'dashboard with release': (visit) => ask(visit, true),
  recordHistory: async ({ url }) => {
    const errors: Error[] = []
    const redis = toOptions(url)
    const history = recordHistory({
      redis,
      key: 'holdfast_history',
      onError: (e) => errors.push(e),
    })
    const { createMemoryServer } = await import('../../../src/testing.ts')
    await using memory = createMemoryServer().newClient()
    await memory.getLock('recorded').using(() => undefined)
    await history.stop()
    if (errors.length > 0) throw errors[0]
  },
}

function toOptions(url: string) {
  const { hostname, port, username, password } = new URL(url)
  return { host: hostname, port: Number(port), username, password }
}

/** Holds each kind, and lets a client wait for it. All holds end with the test. */
export async function inhabit(newClient: () => Holdfast, before = ''): Promise<string[]> {
  const [holder, waiter] = [newClient(), newClient()] as [Holdfast, Holdfast]
  holder.on('releaseRequested', () => undefined)
  const kinds = {
    plain: (one: Holdfast) => one.getLock(`${before}plain`).lock(),
    fair: (one: Holdfast) => one.getFairLock(`${before}fair`).lock(),
    write: (one: Holdfast) => one.getReadWriteLock(`${before}write`).writeLock().lock(),
    permits: (one: Holdfast) =>
      one.getPermitExpirableSemaphore(`${before}permits`, { permits: 1 }).acquire(),
    semaphore: (one: Holdfast) => one.getSemaphore(`${before}semaphore`).acquire(),
  }
  await holder.getSemaphore(`${before}semaphore`).trySetPermits(1)
  await holder.getCountDownLatch(`${before}latch`).trySetCount(1)
  await holder.getReadWriteLock(`${before}read`).readLock().lock()
  void waiter
    .getReadWriteLock(`${before}read`)
    .writeLock()
    .lock()
    .catch(() => undefined)
  const held = holder.getReadWriteLock(`${before}written`)
  await held.writeLock().lock()
  void waiter
    .getReadWriteLock(`${before}written`)
    .readLock()
    .lock()
    .catch(() => undefined)
  void waiter
    .getCountDownLatch(`${before}latch`)
    .await()
    .catch(() => undefined)
  void waiter
    .getCyclicBarrier(`${before}barrier`)
    .await({ parties: 2 })
    .catch(() => undefined)
  const rate = waiter.getRateLimiter(`${before}rate`, { permits: 1, perMs: 600_000 })
  await rate.acquire()
  void rate.acquire().catch(() => undefined)
  for (const acquire of Object.values(kinds)) {
    await acquire(holder)
    void Promise.resolve(acquire(waiter)).catch(() => undefined)
  }
  const election = holder.getLeaderElection(`${before}election`)
  void election
    .lead(({ signal }) => new Promise((end) => signal.addEventListener('abort', end)))
    .catch(() => undefined)
  await eventually(() => election.isLeading)
  const jobOf = (one: Holdfast) => one.job(`${before}nightly`, { ifCrashed: 'repeat' })
  await jobOf(holder).run(() => undefined, { tick: 1 })
  const runNext = (one: Holdfast) =>
    jobOf(one).run(({ signal }) => new Promise((end) => signal.addEventListener('abort', end)), {
      tick: 2,
    })
  void runNext(holder).catch(() => undefined)
  await eventually(async () => (await waiter.lastRun(`${before}nightly`))?.state === 'running')
  void runNext(waiter).catch(() => undefined)
  await eventually(async () => (await holder.getLock(`${before}plain`).inspect()).waiters > 0)
  await (await holder.getLock(`${before}free`).lock()).release()
  return [
    'plain',
    'fair',
    'write',
    'read',
    'written',
    'permits',
    'semaphore',
    'latch',
    'barrier',
    'rate',
    'election',
    'free',
  ]
    .map((name) => before + name)
    .concat(`job:${before}nightly`)
}

/** These tools can change each lock only once. */
export const WRITING: readonly string[] = ['release --force', 'dashboard with release']

/** These tools write nothing, so a login with rights to read is sufficient. */
export const READING: readonly string[] = [
  ...['list', 'inspect', 'watch', 'leaks', 'history', 'doctor', 'dashboard'],
]
