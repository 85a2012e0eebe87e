import type { ElectionChannel } from '../election-channel.ts'
import { electionChannelOf } from './calls/keys.ts'
import type { Connection } from './connection/connection.ts'
import type { Subscriptions } from './connection/subscriptions.ts'

/**
 * Announces leaders. In a cluster with sharded channels, the messages stay in the shard of the
 * election's lock.
 */
export function electionChannel(
  connection: Connection,
  subscriptions: Subscriptions,
  rawName: string,
): ElectionChannel {
  const channel = electionChannelOf(rawName)
  return {
    announce: (token, callMs) =>
      connection.call(callMs, (client) => {
        const message = String(token)
        return connection.sharded
          ? client.spublish(channel, message)
          : client.publish(channel, message)
      }),
    listen: (onChange) => subscriptions.listen(channel, true, () => onChange()),
  }
}
