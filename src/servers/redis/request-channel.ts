import type { RequestChannel } from '../request-channel.ts'
import { requestsOf } from './calls/keys.ts'
import type { Connection } from './connection/connection.ts'
import type { Subscriptions } from './connection/subscriptions.ts'

/** Messages between the clients of one server or cluster, on sharded channels if possible. */
export function requestChannel(
  connection: Connection,
  subscriptions: Subscriptions,
): RequestChannel {
  return {
    async send(clientId, message, callMs) {
      const channel = requestsOf(clientId)
      const listeners = await connection.call(callMs, (client) =>
        connection.sharded ? client.spublish(channel, message) : client.publish(channel, message),
      )
      // Without sharded channels, a node of a cluster counts only its own listeners.
      return connection.clustered && !connection.sharded ? null : Number(listeners)
    },
    listen: (clientId, onMessage) =>
      subscriptions.listen(requestsOf(clientId), true, onMessage, true),
  }
}
