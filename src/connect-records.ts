import type { Connect } from './connect.ts'
import type { NameRule } from './servers/raw-name.ts'
import type { RecordStore } from './servers/record-store.ts'
import type { RecordServer } from './servers/records/record-server.ts'

/**
 * Returns a function that connects a client to a server that runs no scripts, such as the server in memory.
 *
 * @param open makes the client's own connection to the server
 * @param nameRule the rule of the server for the names of locks; default: no further rule
 */
export function connectToRecords(
  open: (...given: Parameters<Connect>) => RecordServer<RecordStore>,
  nameRule?: NameRule,
): Connect {
  return (...given) => {
    const server = open(...given)
    const { address } = server
    return {
      server,
      ...(address !== undefined && { address }),
      clock: server.store.clock,
      keyPrefix: '',
      nameRule,
      disconnect: async () => server.disconnect(),
    }
  }
}
