import type { Holdfast } from '../../src/index.ts'
import {
  createMemoryServer,
  type MemoryClientOptions,
  type MemoryServer,
} from '../../src/testing.ts'
import type { Rig } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'

/** Makes a client, which is closed at the end of the test. */
export type NewClient = (options?: MemoryClientOptions) => Holdfast

/**
 * Returns two places in which locks must behave the same, each with a function that makes a client. Call it at the top
 * of a file.
 */
export function bothPlaces(rig: Rig): [place: string, newClient: NewClient][] {
  let memory: MemoryServer
  beforeEach(() => {
    memory = createMemoryServer()
  })
  const inMemory: NewClient = (options) => {
    const client = memory.newClient(options)
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }
  return [
    ['on a server of Redis', (options) => rig.witness(options)],
    ['in memory', inMemory],
  ]
}
