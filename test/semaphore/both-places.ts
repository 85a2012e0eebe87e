import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { atEnd } from '../support/lifetime.ts'
import { CountingServer } from '../support/memory-server.ts'
import { sharedServer } from '../support/redis-server.ts'

type Options = Omit<HoldfastOptions, 'redis' | 'masters' | 'watchdogThread' | 'durability'>

/** A place for semaphores and latches: Redis, or the memory of the test. */
export interface Place {
  /** Returns a new client, which is closed at the end of the test. */
  client(options?: Options): Holdfast
  /** Deletes all data of the place, like a restart without persistence. */
  loseData(): Promise<void>
}

/** Describes the same tests for Redis and for memory. */
export function inBothPlaces(describeTests: (place: Place) => void): void {
  describe('in Redis', () => {
    const server = sharedServer()
    // A semaphore stays until a client deletes it.
    afterEach(() => server.flush())
    describeTests({
      client: (options) => closedAtEnd(new Holdfast({ redis: server.url, ...options })),
      loseData: () => server.flush(),
    })
  })

  describe('in memory', () => {
    let memory = new CountingServer()
    beforeEach(() => {
      memory = new CountingServer()
    })
    describeTests({
      client: (options) => closedAtEnd(memory.newClient(options)),
      loseData: async () => memory.clear(),
    })
  })
}

function closedAtEnd(client: Holdfast): Holdfast {
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

/** The error that a call rejects with. */
export async function errorOf(call: Promise<unknown>): Promise<Error> {
  try {
    await call
  } catch (error) {
    return error as Error
  }
  throw new Error('It did not fail')
}
