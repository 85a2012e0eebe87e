import { ELECTION } from '../election-channel.ts'
import type { RedisKind } from './calls/redis-kind.ts'
import { electionChannelOf } from './key-names/election.ts'

/**
 * Announces leaders. In a cluster with sharded channels, the messages stay in the shard of the
 * election's lock.
 */
export const redisElection: RedisKind = {
  kind: ELECTION,
  type: 'hash',
  open: (server) => (rawName: string) => {
    const channel = electionChannelOf(rawName)
    return {
      announce: (token: number, callMs: number) => server.publish(channel, String(token), callMs),
      listen: (onChange: () => void) => server.listen({ channel }, () => onChange()),
    }
  },
}
