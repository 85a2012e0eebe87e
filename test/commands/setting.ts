import { Holdfast } from '../../src/index.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { atEnd } from '../support/lifetime.ts'
import type { Inspected } from '../support/printed.ts'
import { sharedServer } from '../support/redis-server.ts'

/** A server that is empty after each test, and clients that are closed before the leak check. */
export function newSetting() {
  const server = sharedServer()
  // Counts and fences have no owner that removes them.
  beforeEach(() => atEnd(() => server.flush(), { beforeCheck: true }))
  const newClient = (options = {}) => {
    const client = new Holdfast({ redis: server.url, ...options })
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }
  /** The JSON output of `npx holdfast inspect`. */
  const inspected = async (name: string): Promise<Inspected> => {
    const { out } = await holdfast(['inspect', name, server.url, '--json', '--look-ms=0'])
    return JSON.parse(out) as Inspected
  }
  return { server, newClient, inspected }
}
