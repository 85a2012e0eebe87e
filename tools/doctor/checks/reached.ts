import { counted } from '../../cli/text/words.ts'
import { answerOf, type Fact, NOT_ASKED } from '../facts/facts.ts'
import { infoOf } from '../facts/names.ts'
import type { Check } from './check.ts'

/** Reports servers that could not be reached, and requests that a server refused. */
export const reached: Check = {
  codes: {
    unreachable: 'error',
    loading: 'error',
    'info-unknown': 'warning',
    'config-unknown': 'note',
    'looked-in-part': 'note',
  },
  *run({ servers, sentinels, deployment }) {
    for (const { address, unreachable } of [...servers, ...sentinels]) {
      if (unreachable === undefined) continue
      yield {
        code: 'unreachable',
        at: address,
        seen: `Not checked: ${unreachable.replace(/\.$/, '')}.`,
        why: 'Its state is unknown. No lock can be acquired on a server that cannot be reached.',
        fix: ['# Check the address, the login, --tls, and that it runs.'],
        numbers: {},
      }
    }
    for (const server of servers) {
      if (server.unreachable !== undefined) continue
      const { address, info, config, clock, rights, keys } = server
      if (infoOf(server, 'loading') === '1') {
        yield {
          code: 'loading',
          at: address,
          seen: 'It is loading its data from the disk.',
          why: 'Until then no lock can be acquired there: calls wait, and reject after outageMs.',
          fix: ['# Wait, and run this command again.'],
          numbers: {},
        }
      }
      if ('unknown' in info) {
        yield {
          code: 'info-unknown',
          at: address,
          seen: `INFO was refused: ${info.unknown}. Unknown: version, role, memory, persistence, replicas.`,
          why:
            deployment === 'masters'
              ? 'A client cannot detect a restart without INFO, so such a master does not vote.'
              : 'Without INFO a client cannot detect a restart, and these checks cannot identify the server.',
          fix: ['# As a user with the right: ACL SETUSER <user> +info'],
          numbers: {},
        }
      }
      if ('unknown' in config) {
        yield {
          code: 'config-unknown',
          at: address,
          seen: `CONFIG GET was refused: ${config.unknown}. Unknown: appendfsync, min-replicas-to-write, timeout and others.`,
          why:
            deployment === 'masters'
              ? 'A master with appendfsync always votes at once after a restart only if the login of the locks has this right.'
              : 'Locks do not need this right. But without it the doctor cannot check these settings.',
          fix: [
            '# As a user with the right: ACL SETUSER <user> +config|get',
            '# or check the settings of your service',
          ],
          numbers: {},
        }
      }
      const parts: [string, Fact<unknown>][] = [
        ['the clock', clock],
        ['the rights', rights],
        ['the keys', keys],
      ]
      const unknown = parts.flatMap(([what, fact]) =>
        'unknown' in fact && fact !== NOT_ASKED ? [`${what} (${fact.unknown})`] : [],
      )
      if (answerOf(rights)?.by === 'a lock') {
        const untried =
          deployment === 'masters' ? 'the rights for masters' : 'the rights of other kinds of lock'
        unknown.push(`${untried} (without ACL DRYRUN, only a getLock lock was tried on one server)`)
      }
      if (unknown.length > 0) {
        yield {
          code: 'looked-in-part',
          at: address,
          seen: `Unknown: ${unknown.join(', ')}.`,
          why: 'The doctor did not check the unknown parts. They may have problems.',
          fix: [
            '# Run it again as a user with the rights, or with a longer --timeout-ms. To give this user the rights:',
            "# ACL SETUSER <user> +scan +type +hlen '+config|get' '+acl|whoami' '+acl|dryrun'",
          ],
          numbers: {},
        }
      }
      const looked = answerOf(keys)
      if (looked !== undefined && !looked.all) {
        yield {
          code: 'looked-in-part',
          at: address,
          seen: `Checked ${counted(looked.looked, 'key')}, and there are more.`,
          why: 'The other keys may include keys without a TTL.',
          fix: ['# A larger --scan-keys checks more keys, for at most a second.'],
          numbers: { looked: looked.looked },
        }
      }
    }
  },
}
