import type { HoldfastOptions } from '../../../src/index.ts'
import type { WorldServer } from '../masters.ts'

/** How one client finds Redis, and a check that runs after the client is closed. */
export interface Way {
  redis: NonNullable<HoldfastOptions['redis']>
  afterClose?: () => Promise<void>
}

/** Servers in one kind of deployment, and the ways in which clients find these servers. */
export interface Place {
  /** All servers of the place, used like one server. */
  readonly server: PlaceServer
  readonly keyPrefix?: string
  /** Returns options that clients need in this place, in addition to the options of the test. */
  options?(given: HoldfastOptions): Omit<HoldfastOptions, 'redis' | 'masters'>
  /** True if a server counts all subscribers of a channel. A node of a cluster counts only its own subscribers. */
  readonly countsListeners?: boolean
  /** Returns how the next client finds Redis. Successive clients use different ways. */
  way(): Way
  /** Runs after each test, when its clients are closed. Throws if an error stayed unnoticed. */
  check?(): Promise<void>
  /** Missing if the place serves the whole test file. */
  stop?(): Promise<void>
}

export interface PlaceServer extends WorldServer {
  /** Makes the server answer again, in whatever state a test left the server. */
  revive(): Promise<void>
}

/** Returns a function that calls the given functions in turn, again and again. */
export function inTurn<T>(all: readonly (() => T)[]): () => T {
  let next = 0
  return () => {
    const make = all[next % all.length] as () => T
    next += 1
    return make()
  }
}
