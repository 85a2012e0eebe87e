import { configOf, infoOf, isMaster, replicasOf } from '../facts/names.ts'
import { type Check, setting } from './check.ts'

const MOST_LAG_SECONDS = 2

/**
 * Checks for replicas that were given as masters, that have lost their master, or that are behind
 * their master.
 */
export const replication: Check = {
  codes: {
    'read-only-replica': 'error',
    'replica-link-down': 'warning',
    'replica-serves-stale': 'note',
    'replica-behind': 'warning',
  },
  *run({ servers }) {
    for (const server of servers) {
      const at = server.address
      if (infoOf(server, 'role') === 'slave') {
        const master = `${infoOf(server, 'master_host')}:${infoOf(server, 'master_port')}`
        const link = infoOf(server, 'master_link_status') ?? 'unknown'
        if (server.as === 'master') {
          const among = servers.some(({ address }) => address === master)
          yield {
            code: 'read-only-replica',
            at,
            seen: `It is a replica of ${master}${among ? ', which was given too' : ''}.`,
            why: among
              ? 'A replica is not an independent master: it refuses all writes with READONLY, and has no vote.'
              : 'It refuses all writes with READONLY: no lock can be acquired there.',
            fix: [
              among
                ? `# Leave out this replica, because its master ${master} was given too.`
                : `# Give the address of its master, ${master}.`,
            ],
            numbers: { master, link },
          }
        }
        if (link !== 'up') {
          const seconds = infoOf(server, 'master_link_down_since_seconds') ?? '0'
          yield {
            code: 'replica-link-down',
            at,
            seen: `Its link to the master ${master} is ${link}, for ${seconds} s.`,
            why: 'If this replica takes over, the locks that were acquired in that time are lost.',
            fix: [
              `${server.cli} INFO replication`,
              '# Check the network, the master and its masterauth.',
            ],
            numbers: { link, downSeconds: seconds },
          }
          if (configOf(server, 'replica-serve-stale-data') === 'yes') {
            yield {
              code: 'replica-serves-stale',
              at,
              seen: 'replica-serve-stale-data is yes, and the link to its master is down.',
              why: 'A program that reads locks there sees old data. Holdfast does not read from replicas.',
              fix: setting(server, 'replica-serve-stale-data', 'no'),
              numbers: { link },
            }
          }
        }
      }
      if (!isMaster(server)) continue
      for (const { address, state, lagSeconds } of replicasOf(server)) {
        if (state === 'online' && lagSeconds < MOST_LAG_SECONDS) continue
        yield {
          code: 'replica-behind',
          at,
          seen: `Its replica ${address} is ${state}, and last answered ${lagSeconds} s ago.`,
          why: 'If that replica takes over, the locks that were acquired in that time are lost.',
          fix: [`${server.cli} INFO replication`, '# Check that replica and the network to it.'],
          numbers: { replica: address, state, lagSeconds },
        }
      }
    }
  },
}
