import { configOf, infoOf, isMaster, replicasOf } from '../facts/names.ts'
import { type Check, setting } from './check.ts'

/** Checks which locks are lost when a server restarts. */
export const persistence: Check = {
  codes: {
    'no-persistence': 'warning',
    'disk-fails': 'error',
    'fsync-never': 'warning',
    'fsync-everysec': 'note',
    'fsync-pauses': 'warning',
    'restart-rests': 'note',
  },
  *run({ servers, deployment, terms }) {
    const masters = servers.filter(isMaster)
    // If one of three masters restarts, the other masters still have the locks. A master that may
    // have lost locks does not vote for a while.
    const isQuorum = deployment === 'masters' && servers.length >= 3
    const resting: string[] = []
    for (const server of masters) {
      const at = server.address
      const aof = infoOf(server, 'aof_enabled')
      const fsync = configOf(server, 'appendfsync')
      const bgsave = infoOf(server, 'rdb_last_bgsave_status') ?? 'ok'
      const write = infoOf(server, 'aof_last_write_status') ?? 'ok'
      if (bgsave !== 'ok' || write !== 'ok') {
        yield {
          code: 'disk-fails',
          at,
          seen: `The last snapshot: ${bgsave}. The last write to the log: ${write}.`,
          why: 'With stop-writes-on-bgsave-error (the default) the server refuses all writes with MISCONF: no lock can be acquired or renewed.',
          fix: [
            `${server.cli} INFO persistence`,
            '# Free disk space, or fix its permissions; then BGSAVE.',
          ],
          numbers: { bgsave, write },
        }
      }
      if (aof === undefined) continue
      const isSafe = aof === '1' && fsync === 'always'
      if (isQuorum) {
        if (!isSafe || replicasOf(server).length > 0) resting.push(at)
      } else if (aof === '0') {
        const snapshots = (configOf(server, 'save') ?? '') !== ''
        yield {
          code: 'no-persistence',
          at,
          seen: `appendonly is no, ${snapshots ? 'and snapshots contain only older data' : 'and there are no snapshots'}.`,
          why: `A restart loses the locks. Other clients can then acquire these locks while the old holders continue, for up to a lease (${terms.leaseMs} ms).`,
          fix: [
            ...setting(server, 'appendonly', 'yes'),
            '# or three independent masters: docs/how-to/independent-masters.md',
          ],
          numbers: { snapshots: snapshots ? 1 : 0 },
        }
      } else if (fsync === 'no') {
        yield {
          code: 'fsync-never',
          at,
          seen: 'appendfsync is no: the system decides when it writes to the disk, usually within 30 s.',
          why: 'A crash of the machine loses the locks that were acquired since the last write to the disk. Other clients can then acquire these locks while the old holders continue.',
          fix: setting(server, 'appendfsync', 'everysec'),
          numbers: { fsync },
        }
      } else if (fsync === 'everysec') {
        yield {
          code: 'fsync-everysec',
          at,
          seen: 'appendfsync is everysec.',
          why: 'A crash of the process loses nothing. A crash of the machine loses the locks of the last second, or of the last two seconds on a slow disk. With appendfsync always a crash loses no lock, but each acquisition waits for the disk.',
          fix: setting(server, 'appendfsync', 'always'),
          numbers: { fsync },
        }
      }
      if (isSafe && configOf(server, 'no-appendfsync-on-rewrite') === 'yes') {
        yield {
          code: 'fsync-pauses',
          at,
          seen: 'appendfsync is always, and no-appendfsync-on-rewrite is yes.',
          why: 'While the server rewrites its log, it does not sync to the disk. If the machine crashes at that time, the locks that were acquired during the rewrite are lost. One of several masters votes at once after the restart, even when it lacks such locks.',
          fix: setting(server, 'no-appendfsync-on-rewrite', 'no'),
          numbers: { fsync: 'always' },
        }
      }
    }
    if (resting.length > 0) {
      yield {
        code: 'restart-rests',
        at: undefined,
        seen: `${resting.length} of ${masters.length} masters may lose locks when they restart: ${resting.join(', ')}.`,
        why: `The quorum loses no lock, because such a master does not vote for longestLeaseMs (${terms.longestLeaseMs} ms) after a restart. During that time one failure less is tolerated.`,
        fix: [
          '# No action is needed. With appendonly yes, appendfsync always and no replica, a master votes at once,',
          '# but each acquisition waits for the disk.',
        ],
        numbers: { longestLeaseMs: terms.longestLeaseMs, masters: masters.length },
      }
    }
  },
}
