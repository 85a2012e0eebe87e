import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'
import { clientOf } from '../servers/owner-id.ts'
import type { ClientInfo } from '../servers/presence.ts'
import type { LocalLocks } from './local-locks.ts'

const OF_CLIENT = { noun: 'Client', unavailable: 'Its label and its process are unknown.' }

/**
 * Resolves with the process and the label of the client, or with null if the client is unknown.
 * Rejects if the argument is invalid or the server does not answer.
 */
export async function clientInfo(
  locks: Pick<LocalLocks, 'request' | 'clients'>,
  clientOrOwner: unknown,
): Promise<ClientInfo | null> {
  if (typeof clientOrOwner !== 'string' || clientOf(clientOrOwner) === '') {
    throw new InvalidArgumentError(
      `clientInfo(owner) takes the id of a client, or the name of one of its owners; got ${show(clientOrOwner)}.`,
    )
  }
  const client = clientOf(clientOrOwner)
  const call = (callMs: number) => locks.clients.fetchInfo(client, callMs)
  return locks.request(client, 'not asked about', call, OF_CLIENT)
}
