import type { Connect } from './connect.ts'
import type { RecordStore } from './servers/record-store.ts'
import type { RecordServer } from './servers/records/record-server.ts'

/**
 * Returns a function that connects a client to a server without scripts.
 *
 * @param open makes the client's own connection to the server
 */
export function connectToRecords(
  open: (...given: Parameters<Connect>) => RecordServer<RecordStore>,
): Connect {
  return (...given) => {
    const server = open(...given)
    const { address } = server
    return {
      server,
      ...(address !== undefined && { address }),
      clock: server.store.clock,
      keyPrefix: '',
      clustered: false,
      disconnect: async () => server.disconnect(),
    }
  }
}
