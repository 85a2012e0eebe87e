import type { Holdfast } from '../../src/index.ts'
import { type MemoryClientOptions, newMemoryClient } from '../../src/memory-client.ts'
import { MemoryLockServer } from '../../src/servers/memory/memory-server.ts'
import type { Rig } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'

/** Makes a client, which is closed at the end of the test. */
export type NewClient = (options?: MemoryClientOptions) => Holdfast

/** The two places where the same has to be so: a name, and how a client of it is made. Call it at the top of a file. */
export function bothPlaces(rig: Rig): [place: string, newClient: NewClient][] {
  let memory: MemoryLockServer
  beforeEach(() => {
    memory = new MemoryLockServer()
  })
  const inMemory: NewClient = (options) => {
    const client = newMemoryClient(memory, options)
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }
  return [
    ['on a server of Redis', (options) => rig.witness(options)],
    ['in memory', inMemory],
  ]
}
