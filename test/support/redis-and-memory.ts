import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'
import { type RedisServer, sharedServer } from './redis-server.ts'

/** The options of a client that both servers accept. */
export type OptionsOfBoth = Omit<
  HoldfastOptions,
  'redis' | 'masters' | 'watchdogThread' | 'durability'
>

/** One of the two servers, with a function that makes a client of it. */
interface PlaceOfBoth {
  readonly place: 'Redis' | 'memory'
  readonly make: (options: OptionsOfBoth) => Holdfast
}

/** The shared server of Redis, and a server in memory. Call this function at the top of a file, as `sharedServer`. */
export function redisAndMemory(): { server: RedisServer; places: readonly PlaceOfBoth[] } {
  const server = sharedServer()
  const memory = createMemoryServer()
  const places: readonly PlaceOfBoth[] = [
    { place: 'Redis', make: (options) => new Holdfast({ redis: server.url, ...options }) },
    { place: 'memory', make: (options) => memory.newClient(options) },
  ]
  return { server, places }
}
