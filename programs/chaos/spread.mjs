// A client of each server. Each name belongs to one server, so a multi-lock may need locks of several servers.
import { Holdfast } from '../../dist/esm/src/index.js'

const GETTERS = [
  ...['getLock', 'getFairLock', 'getReadWriteLock', 'getPermitExpirableSemaphore', 'getSemaphore'],
  ...['getCountDownLatch', 'getCyclicBarrier', 'getLeaderElection'],
]

/**
 * Returns the methods of a client that callers use. Each method uses the client of the server that has the name.
 *
 * @param parts the options of each client: its server
 * @param settings the options of all clients
 */
export function openSpread(parts, settings) {
  const clients = parts.map((server) => new Holdfast({ ...settings, ...server }))
  const [first] = clients
  const clientOf = (name) => clients[placeOf(name, clients.length)]
  const getters = GETTERS.map((get) => [get, (name, ...args) => clientOf(name)[get](name, ...args)])
  return {
    ...Object.fromEntries(getters),
    id: first.id,
    /** Undefined, because an owner belongs to one client. The locks then make their own owners. */
    owner: () => undefined,
    run: (work) => clients.reduce((inner, client) => () => client.run(inner), work)(),
    on(event, listener) {
      for (const client of clients) client.on(event, listener)
    },
    getMultiLock: (...locks) => first.getMultiLock(...locks),
    close: () => Promise.all(clients.map((client) => client.close())),
  }
}

/** The index of the server that has the name. All processes compute the same index. */
function placeOf(name, count) {
  let sum = 0
  for (const char of name) sum = (sum * 31 + char.codePointAt(0)) % 65_521
  return sum % count
}
