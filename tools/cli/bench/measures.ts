import { Holdfast, type HoldfastOptions, type Lock } from '../../../src/index.ts'

export interface Measured {
  readonly code: string
  /** The measured action, as the report prints it. */
  readonly what: string
  /** The measured durations, in milliseconds. */
  readonly samplesMs: readonly number[]
}

export interface BenchTerms {
  /** The options of the two clients that measure. */
  readonly client: HoldfastOptions
  /** The prefix of the names of the locks. */
  readonly name: string
  readonly seconds: number
  readonly signal: AbortSignal
}

/**
 * One step of a measurement. Resolves with the measured duration, in milliseconds. If a step
 * resolves with undefined, the measurement uses the duration of the whole step.
 */
type Step = () => Promise<number | undefined>

/**
 * A measurement ends at the latest after this many measured steps, so that a fast server is not
 * kept busy for long.
 */
const MOST_STEPS = 2_000
/**
 * The pause between two steps, in milliseconds, so that the server has time for other clients.
 * Node.js waits for at least 1 ms.
 */
const PAUSE_MS = 0.5

/**
 * Runs the measurements one after the other until the signal aborts, and yields the result of each.
 * Each measurement gets an equal part of `seconds`.
 */
export async function* measure(terms: BenchTerms): AsyncGenerator<Measured> {
  const clients = [new Holdfast(terms.client), new Holdfast(terms.client)] as const
  for (const client of clients) client.on('error', () => undefined)
  try {
    const plan = planOf(terms, ...clients)
    for (const { code, what, prepare } of plan) {
      if (terms.signal.aborted) return
      const { step, finish } = await prepare()
      const samplesMs = await repeated(step, terms.seconds / plan.length, terms.signal)
      await finish?.()
      yield { code, what, samplesMs }
    }
  } finally {
    await Promise.all(clients.map((client) => client.close()))
  }
}

interface Planned {
  readonly code: string
  readonly what: string
  prepare(): Promise<{ step: Step; finish?: () => Promise<void> }>
}

function planOf({ client, name }: BenchTerms, one: Holdfast, other: Holdfast): Planned[] {
  const lock = (of: Holdfast, kind: string) => of.getLock(`${name}:${kind}`)
  const plan: Planned[] = [
    {
      code: 'ask',
      what: 'ask who holds a lock',
      prepare: async () => ({
        step: async () => void (await lock(one, 'ask').isLocked()),
      }),
    },
    {
      code: 'free',
      what: 'acquire a free lock, and release it',
      prepare: async () => ({
        step: async () => void (await (await lock(one, 'free').lock()).release()),
      }),
    },
    {
      code: 'renew',
      what: 'renew a lease',
      prepare: async () => {
        const lease = await lock(one, 'renew').lock({ leaseMs: LEASE_MS })
        const finish = async () => void (await lease.release())
        return { step: async () => void (await lease.extend(LEASE_MS)), finish }
      },
    },
    {
      code: 'local',
      what: 'hand over to a waiter in the same client',
      prepare: async () => handOver(lock(one, 'local'), lock(one, 'local')),
    },
    {
      code: 'other',
      what: 'hand over to a waiter in another client',
      prepare: async () => handOver(lock(one, 'other'), lock(other, 'other')),
    },
  ]
  // A client of several masters has no fair locks, so fair locks are not measured.
  if (client.masters !== undefined) return plan
  const fair = (of: Holdfast) => of.getFairLock(`${name}:fair`)
  return [
    ...plan,
    {
      code: 'fair',
      what: 'hand over a fair lock to another client',
      prepare: async () => handOver(fair(one), fair(other)),
    },
  ]
}

/**
 * The lease of the lock whose renewal is measured, in milliseconds. If the process ends early, the
 * lock expires after this time.
 */
const LEASE_MS = 10_000
/**
 * The pause before each release, in milliseconds. During this pause, the next holder starts to wait
 * for the lock.
 */
const WAITING_MS = 20

/** Returns a step that measures the time from the release by `from` until `to` has the lock. */
function handOver(from: Lock, to: Lock): { step: Step } {
  const step = async () => {
    const held = await from.lock()
    let gotAt = 0
    const waiting = to.lock().then((lease) => {
      gotAt = performance.now()
      return lease
    })
    await pause(WAITING_MS)
    const releasedAt = performance.now()
    await held.release()
    await (await waiting).release()
    return gotAt - releasedAt
  }
  return { step }
}

async function repeated(step: Step, seconds: number, signal: AbortSignal): Promise<number[]> {
  const samples: number[] = []
  // The first step is not measured, because it opens connections and loads scripts.
  await step()
  const endsAt = performance.now() + seconds * 1_000
  while (performance.now() < endsAt && samples.length < MOST_STEPS && !signal.aborted) {
    const startedAt = performance.now()
    const measured = await step()
    samples.push(measured ?? performance.now() - startedAt)
    await pause(PAUSE_MS)
  }
  return samples
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
