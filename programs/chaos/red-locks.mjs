// A client of each server. The locks of all clients together are RedLocks.
import { Holdfast } from '../../dist/esm/src/index.js'

/**
 * Returns the methods of a client that callers use. `getLock` gives a RedLock.
 *
 * @param votes the options of each client: its server
 * @param settings the options of all clients
 */
export function openRedLocks(votes, settings) {
  const clients = votes.map((server) => new Holdfast({ ...settings, ...server }))
  const [first, ...others] = clients
  return {
    id: first.id,
    owner: () => first.owner(),
    run: (work) => first.run(work),
    on: (event, listener) => first.on(event, listener),
    getLock: (name, options) =>
      first.getRedLock(first.getLock(name, options), ...others.map((one) => one.getLock(name))),
    getMultiLock: (...locks) => first.getMultiLock(...locks),
    /** Closes the first client first, because its `close()` releases the RedLocks on the servers of all clients. */
    async close() {
      await first.close()
      await Promise.all(others.map((one) => one.close()))
    },
  }
}
