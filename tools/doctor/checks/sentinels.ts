import { counted } from '../../cli/text/words.ts'
import { answerOf } from '../facts/facts.ts'
import { hostAndPort, numberOf } from '../facts/names.ts'
import type { Check } from './check.ts'

/**
 * The estimated duration of a failover by Sentinels, in milliseconds. The failover starts after
 * `down-after-milliseconds`.
 */
const ELECTION_MS = 1_000

/** Checks if the Sentinels can fail over, and if a failover is fast enough. */
export const sentinels: Check = {
  codes: {
    'master-unknown': 'error',
    'sentinels-disagree': 'error',
    'master-down': 'error',
    'few-sentinels': 'warning',
    'sentinel-quorum': 'error',
    'sentinel-quorum-low': 'warning',
    'failover-slow': 'warning',
  },
  *run({ sentinels, terms }) {
    const known = sentinels.flatMap(({ address, cli, master }) => {
      const names = answerOf(master)
      return names === undefined ? [] : [{ address, cli, names }]
    })
    for (const { address, unreachable, master, cli } of sentinels) {
      if (unreachable !== undefined || !('unknown' in master)) continue
      const refused = master.unknown.startsWith('NOPERM')
      yield {
        code: 'master-unknown',
        at: address,
        seen: `It does not report the master: ${master.unknown.replace(/\.$/, '')}.`,
        why: refused
          ? 'Clients may still receive the address of the master. The master was not checked.'
          : 'Clients that ask this Sentinel find no server for their locks.',
        fix: refused
          ? [`${cli} ACL SETUSER <user> '+sentinel|master'`]
          : [
              `${cli} SENTINEL MASTERS`,
              '# shows the names of its masters. Pass one as --master-name.',
            ],
        numbers: {},
      }
    }
    const places = [...new Set(known.map(({ names }) => hostAndPort(names)))]
    if (places.length > 1) {
      yield {
        code: 'sentinels-disagree',
        at: undefined,
        seen: `They name different masters: ${known.map(({ address, names }) => `${address} names ${hostAndPort(names)}`).join(', ')}.`,
        why: 'Clients of two masters can hold the same lock at once. If a failover is in progress, the Sentinels agree within seconds.',
        fix: known.map(({ cli, names }) => `${cli} SENTINEL CKQUORUM ${names.name}`),
        numbers: { masters: places.length },
      }
    }
    for (const { address: at, cli, names } of known) {
      const all = 1 + (numberOf(names['num-other-sentinels']) ?? 0)
      const quorum = numberOf(names.quorum) ?? 0
      const downAfterMs = numberOf(names['down-after-milliseconds']) ?? 0
      const set = (option: string, value: number) => [
        `${cli} SENTINEL SET ${names.name} ${option} ${value}`,
      ]
      const numbers = { sentinels: all, quorum, downAfterMs }
      const majority = Math.floor(all / 2) + 1
      const soonerMs = Math.max(1_000, Math.floor(terms.leaseMs / 6))
      if (/down/.test(names.flags ?? '')) {
        yield {
          code: 'master-down',
          at,
          seen: `It considers the master ${hostAndPort(names)} down (${names.flags}).`,
          why: 'Until a replica takes over, no lock can be acquired or renewed.',
          fix: [`${cli} SENTINEL MASTER ${names.name}`],
          numbers,
        }
      }
      if (all < 3) {
        yield {
          code: 'few-sentinels',
          at,
          seen: `It knows of ${counted(all, 'Sentinel')}, itself included.`,
          why: 'A failover needs a majority of the Sentinels. With fewer than three Sentinels, the failure of one Sentinel prevents a failover.',
          fix: ['# Run three Sentinels, on separate machines.'],
          numbers,
        }
      }
      if (quorum > all) {
        yield {
          code: 'sentinel-quorum',
          at,
          seen: `The quorum is ${quorum}, of ${all} Sentinels.`,
          why: 'The Sentinels can never agree that the master is down. If the master fails, no lock can be acquired until an operator acts.',
          fix: set('quorum', majority),
          numbers,
        }
      } else if (quorum < majority && all >= 3) {
        yield {
          code: 'sentinel-quorum-low',
          at,
          seen: `The quorum is ${quorum}, of ${all} Sentinels.`,
          why: 'A minority of them can decide that the master is down and so cause a failover, even when only that minority cannot reach the master. Each failover can lose locks.',
          fix: set('quorum', majority),
          numbers,
        }
      }
      if (downAfterMs + ELECTION_MS > terms.leaseMs) {
        yield {
          code: 'failover-slow',
          at,
          seen: `down-after-milliseconds is ${downAfterMs}, and a lease lasts ${terms.leaseMs} ms.`,
          why: 'A failover takes about a second longer than down-after-milliseconds. Leases end before the new master answers, and each holder loses its lock.',
          fix: [
            ...(soonerMs < downAfterMs ? set('down-after-milliseconds', soonerMs) : []),
            `# or a leaseMs longer than ${downAfterMs + ELECTION_MS}`,
          ],
          numbers: { ...numbers, leaseMs: terms.leaseMs },
        }
      }
    }
  },
}
