import type { RequestChannel } from '../request-channel.ts'
import { requestsOf } from './calls/keys.ts'
import type { Connection } from './connection/connection.ts'
import type { Subscriptions } from './connection/subscriptions.ts'

/** Messages between the clients of one server or cluster, where they are sharded if they can be. */
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
      // A node of a cluster without sharded channels counts its own listeners alone.
      return connection.clustered && !connection.sharded ? null : Number(listeners)
    },
    listen: (clientId, onMessage) =>
      subscriptions.listen(requestsOf(clientId), true, onMessage, true),
  }
}
