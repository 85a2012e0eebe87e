import { Holdfast } from '../../src/index.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

/** A server that is empty after each test, and clients that are closed before the leak check. */
export function newSetting() {
  const server = sharedServer()
  // Counts and fences have no owner who takes them away.
  beforeEach(() => atEnd(() => server.flush(), { beforeCheck: true }))
  const newClient = (options = {}) => {
    const client = new Holdfast({ redis: server.url, ...options })
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }
  return { server, newClient }
}
