import type { HoldfastOptions } from '../../../src/index.ts'
import type { WorldServer } from '../masters.ts'

/** How one client finds Redis, and what to check once that client has been closed. */
export interface Way {
  redis: NonNullable<HoldfastOptions['redis']>
  afterClose?: () => Promise<void>
}

/** Servers as users run them, and the ways in which clients find them. */
export interface Place {
  /** All of it as one server. */
  readonly server: PlaceServer
  readonly keyPrefix?: string
  /** What a client there is told beside the options that a test gives it. */
  options?(given: HoldfastOptions): Omit<HoldfastOptions, 'redis' | 'masters'>
  /** Whether a server counts all who listen to a channel; one node of a cluster knows of its own only. */
  readonly countsListeners?: boolean
  /** For the next client: each in another of the ways that there are. */
  way(): Way
  /** After each test, when its clients are closed: throws where something went wrong unseen. */
  check?(): Promise<void>
  /** Left out where it serves the whole test file. */
  stop?(): Promise<void>
}

export interface PlaceServer extends WorldServer {
  /** Makes it answer again, whatever a test did to it. */
  revive(): Promise<void>
}

/** Takes one after the other, and begins anew. */
export function inTurn<T>(all: readonly (() => T)[]): () => T {
  let next = 0
  return () => {
    const make = all[next % all.length] as () => T
    next += 1
    return make()
  }
}
