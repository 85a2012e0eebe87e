import { setTimeout as pause } from 'node:timers/promises'
import { HoldfastError, type HoldfastLock, type Lease } from '../../src/index.ts'
import { SHA } from './fault-rig.ts'
import type { FaultProxy } from './proxy.ts'

/** With HOLDFAST_STORM_SEED=…, a storm repeats the same faults. The network may still cause differences. */
export const SEED = Number(process.env.HOLDFAST_STORM_SEED ?? Math.floor(Math.random() * 2 ** 32))

export type Random = () => number

/** Random numbers by Mulberry32, which is short and gives the same numbers on every machine. */
export function randomFrom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pick<T>(random: Random, among: readonly T[]): T {
  return among[Math.floor(random() * among.length)] as T
}

export interface FaultProfile {
  name: string
  /** The longest time of a fault, in milliseconds. */
  faultMs: number
  leaseMs: number
  commandTimeoutMs: number
  outageMs: number
  /** True if clients may lose leases in this profile. */
  loses: boolean
}

export const faultProfiles: FaultProfile[] = [
  {
    name: 'short faults and long leases',
    faultMs: 60,
    leaseMs: 60_000,
    commandTimeoutMs: 120,
    outageMs: 10_000,
    loses: false,
  },
  {
    name: 'faults that outlast leases',
    faultMs: 300,
    leaseMs: 250,
    commandTimeoutMs: 120,
    outageMs: 400,
    loses: true,
  },
]

/** Causes random faults on the way of one client, one fault after another, until `isOver()`. */
export async function causeFaults(
  proxy: FaultProxy,
  random: Random,
  profile: FaultProfile,
  isOver: () => boolean,
  scripts: readonly string[] = Object.values(SHA),
): Promise<void> {
  const only = () => pick(random, ['commands', 'subscriber', undefined] as const)
  while (!isOver()) {
    await pause(random() * 25)
    const kind = Math.floor(random() * 8)
    const where = only()
    const options = where === undefined ? {} : { only: where }
    if (kind <= 1) proxy.cut(where)
    else if (kind === 2) {
      const action = pick(random, ['cutBefore', 'cutAfter', 'mute', 'duplicate'] as const)
      proxy.onNextRequest(pick(random, scripts), action)
    } else if (kind === 3) proxy.refuse()
    else if (kind === 4) proxy.blackHole({ ...options, onHeal: pick(random, ['drop', 'deliver']) })
    else if (kind === 5) proxy.dropReplies(options)
    else if (kind === 6) proxy.delay(random() * 20, options)
    else if (kind === 7) proxy.blackHole({ ...options, direction: 'toClient' })
    await pause(random() * profile.faultMs)
    if (random() < 0.8) await proxy.heal()
  }
  await proxy.heal()
}

/** Acquires the lock with a random kind of call. Returns null if the call did not acquire the lock. */
export async function tryAnyhow(lock: HoldfastLock, random: Random): Promise<Lease | null> {
  const way = random()
  try {
    if (way < 0.2) return await lock.tryLock()
    if (way < 0.5) return await lock.tryLock(Math.ceil(random() * 60))
    if (way < 0.7) return await lock.lock({ signal: AbortSignal.timeout(Math.ceil(random() * 60)) })
    return await lock.lock()
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'HOLDFAST_UNAVAILABLE') return null
    if (error instanceof DOMException && error.name === 'TimeoutError') return null
    throw error
  }
}
