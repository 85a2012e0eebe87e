import { counted } from '../../cli/text/words.ts'
import { configOf, infoOf, isMaster, numberOf, replicasOf } from '../facts/names.ts'
import { type Check, setting } from './check.ts'

/** Checks if a failover to a replica can lose locks, and if enough replicas are online. */
export const replicas: Check = {
  codes: {
    'failover-loses-locks': 'note',
    'no-min-replicas': 'warning',
    'min-replicas-unmet': 'error',
    'too-few-replicas': 'error',
  },
  *run({ servers, deployment, terms }) {
    const { durability } = terms
    for (const server of servers.filter(isMaster)) {
      const at = server.address
      const all = replicasOf(server)
      const online = all.filter(({ state }) => state === 'online').length
      const least = numberOf(configOf(server, 'min-replicas-to-write'))
      const maxLag = numberOf(configOf(server, 'min-replicas-max-lag')) ?? 10
      const good = all.filter((one) => one.state === 'online' && one.lagSeconds <= maxLag).length
      const numbers = { replicas: all.length, online, minReplicasToWrite: least ?? -1 }
      const settings = [
        ...setting(server, 'min-replicas-to-write', 1),
        ...(maxLag > 5 ? setting(server, 'min-replicas-max-lag', 5) : []),
      ]
      const wanted = durability === 'all' ? Math.max(1, all.length) : durability
      if (online < wanted) {
        yield {
          code: 'too-few-replicas',
          at,
          seen: `${counted(online, 'replica')} online; --durability ${durability} needs ${wanted}.`,
          why: 'Each acquisition waits for the replicas, and fails if they do not confirm it.',
          fix: [`${server.cli} INFO replication`, '# Start the replicas, or require fewer.'],
          numbers: { ...numbers, wanted },
        }
      }
      if (least !== undefined && least > good) {
        yield {
          code: 'min-replicas-unmet',
          at,
          seen: `min-replicas-to-write is ${least}, and ${counted(good, 'replica')} answered within ${maxLag} s.`,
          why: 'It refuses all writes with NOREPLICAS: no lock can be acquired or renewed.',
          fix: [`${server.cli} INFO replication`, '# Start the replicas, or lower the setting.'],
          numbers: { ...numbers, good },
        }
      }
      // A quorum never uses the replicas of its masters, so the other checks are skipped.
      if (all.length === 0 || deployment === 'masters') continue
      if (durability === 0) {
        yield {
          code: 'failover-loses-locks',
          at,
          seen: `It has ${counted(all.length, 'replica')}, and answers a write before any replica has the data.`,
          why: 'A replica that takes over lacks the latest locks. Other clients can then acquire these locks while the old holders continue. Fencing tokens distinguish the holders.',
          fix: [
            '# Let acquisitions wait for the replicas, with the option durability, or use',
            '# three independent masters: docs/how-to/independent-masters.md',
          ],
          numbers,
        }
      }
      // In a cluster, a master without contact to the other masters stops accepting writes. So a
      // master with one replica needs no `min-replicas-to-write`.
      const stopsItself = infoOf(server, 'redis_mode') === 'cluster' && all.length === 1
      if (least === 0 && !stopsItself) {
        yield {
          code: 'no-min-replicas',
          at,
          seen: `min-replicas-to-write is 0, with ${counted(all.length, 'replica')}.`,
          why: 'A master without a connection to its replicas still grants locks. One of the replicas can take over and grant the same locks.',
          fix:
            all.length === 1
              ? [
                  '# Add a second replica first: a single replica that takes over has no replica, and would refuse all writes. Then:',
                  ...settings.map((line) => (line.startsWith('#') ? line : `# ${line}`)),
                ]
              : settings,
          numbers: { ...numbers, minReplicasMaxLag: maxLag },
        }
      }
    }
  },
}
