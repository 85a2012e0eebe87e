import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'

/** Runs the work while it holds the lock of the service. Each release has its own function. */
export type Exclusively = (work: () => Promise<void>) => Promise<void>

/** The locks of one kind in the old library and in Holdfast. */
export interface Locks {
  /** The URLs of the servers: one server, or several masters. */
  readonly urls: readonly string[]
  /** The number of callers in each instance; 2 unless the callers would block each other. */
  readonly callers?: number
  /** The number of callers that may work at the same time; 1 unless the kind is a semaphore. */
  readonly most?: number
  old(clients: Redis[]): Exclusively
  ours(holdfast: Holdfast): Exclusively
}

/** The locks that a release of the service uses: only the old lock, both locks, or only the new lock. */
export type Release = 'old' | 'both' | 'new'

const INSTANCES = 3
/** Each instance must have worked this often beside the others before the next instance is replaced. */
const SHARE = 8

/**
 * How often an instance of one release worked directly after an instance of another release, for example `old>both`.
 */
export type Turns = ReadonlyMap<string, number>

export interface Witness {
  /** The largest number of callers that worked at the same time. */
  most: number
  readonly errors: unknown[]
  readonly turns: Turns
}

/**
 * Deploys these releases one after the other, instance by instance, while all instances work. Stops at the first error.
 * The prefix is for the keys of Holdfast.
 */
export async function rollOut(
  locks: Locks,
  releases: readonly Release[],
  keyPrefix = 'locks:',
): Promise<Witness> {
  const turns = new Map<string, number>()
  const witness: Witness = { most: 0, errors: [], turns }
  let inside = 0
  let last: Release | undefined
  const at = (release: Release) => async () => {
    inside += 1
    witness.most = Math.max(witness.most, inside)
    const turn = `${last ?? release}>${release}`
    turns.set(turn, (turns.get(turn) ?? 0) + 1)
    last = release
    await pause(2)
    inside -= 1
  }
  const start = (release: Release) =>
    startInstance(locks, release, keyPrefix, at(release), witness.errors)
  const running = Array.from({ length: INSTANCES }, () => start(releases[0] as Release))
  const allWorked = async () => {
    const before = running.map(({ done }) => done())
    const hasWorked = (i: number) => (running[i]?.done() ?? 0) >= (before[i] ?? 0) + SHARE
    await eventually(() => witness.errors.length > 0 || running.every((_, i) => hasWorked(i)), {
      timeoutMs: 40_000,
      message: 'each instance to have its turns',
    })
  }
  try {
    await allWorked()
    for (const release of releases.slice(1)) {
      for (const i of running.keys()) {
        await running[i]?.stop()
        running[i] = start(release)
        await allWorked()
      }
    }
  } finally {
    await Promise.all(running.map((instance) => instance.stop()))
  }
  return witness
}

function startInstance(
  { urls, old, ours, callers: howMany = 2 }: Locks,
  release: Release,
  keyPrefix: string,
  work: () => Promise<void>,
  errors: unknown[],
) {
  const clients = release === 'new' ? [] : urls.map((url) => new Redis(url))
  const holdfast = release === 'old' ? undefined : new Holdfast({ ...placeOf(urls), keyPrefix })
  const outer: Exclusively = holdfast === undefined ? (fn) => fn() : ours(holdfast)
  const inner: Exclusively = release === 'new' ? (fn) => fn() : old(clients)
  let stopping = false
  let done = 0
  const callers = Array.from({ length: howMany }, async () => {
    while (!stopping) {
      await outer(() => inner(work))
      done += 1
    }
  })
  for (const caller of callers) caller.catch((error) => errors.push(error))
  return {
    done: () => done,
    async stop(): Promise<void> {
      stopping = true
      await Promise.allSettled(callers)
      for (const client of clients) client.disconnect()
      await holdfast?.close()
    },
  }
}

function placeOf(urls: readonly string[]): HoldfastOptions {
  const [redis = ''] = urls
  return urls.length === 1 ? { redis } : { masters: urls, newDeployment: true }
}
