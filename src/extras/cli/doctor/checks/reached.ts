import { counted } from '../../text/words.ts'
import { answerOf, type Fact, NOT_ASKED } from '../facts/facts.ts'
import { infoOf } from '../facts/names.ts'
import type { Check } from './check.ts'

/** Servers that could not be looked at, and questions that they refused. */
export const reached: Check = {
  codes: {
    unreachable: 'error',
    loading: 'error',
    'info-unknown': 'warning',
    'config-unknown': 'note',
    'looked-in-part': 'note',
  },
  *run({ servers, sentinels, place }) {
    for (const { address, unreachable } of [...servers, ...sentinels]) {
      if (unreachable === undefined) continue
      yield {
        code: 'unreachable',
        at: address,
        seen: `Not looked at: ${unreachable.replace(/\.$/, '')}.`,
        why: 'Nothing is known of it. Locks cannot be had from what cannot be reached.',
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
          seen: 'It is reading its data from the disk, and answers nothing else.',
          why: 'Until it has, locks cannot be had there: calls wait, and reject after outageMs.',
          fix: ['# Wait, and ask again.'],
          numbers: {},
        }
      }
      if ('unknown' in info) {
        yield {
          code: 'info-unknown',
          at: address,
          seen: `INFO was refused: ${info.unknown}. Not known: version, role, memory, persistence, replicas.`,
          why:
            place === 'masters'
              ? 'A client cannot tell either whether it was restarted: a master without INFO has no vote.'
              : 'A client cannot tell either whether it was restarted, nor these checks what it is.',
          fix: ['# As a user who may: ACL SETUSER <user> +info'],
          numbers: {},
        }
      }
      if ('unknown' in config) {
        yield {
          code: 'config-unknown',
          at: address,
          seen: `CONFIG GET was refused: ${config.unknown}. Not known: appendfsync, min-replicas-to-write, timeout and others.`,
          why:
            place === 'masters'
              ? 'Where appendfsync always is to count, the login of the locks needs it as well.'
              : 'Locks do without it. These checks cannot say whether those settings are right.',
          fix: [
            '# As a user who may: ACL SETUSER <user> +config|get',
            '# or look at the settings of your service',
          ],
          numbers: {},
        }
      }
      const parts: [string, Fact<unknown>][] = [
        ['the clock', clock],
        ['the rights', rights],
        ['the keys', keys],
      ]
      const told = parts.flatMap(([what, fact]) =>
        'unknown' in fact && fact !== NOT_ASKED ? [`${what} (${fact.unknown})`] : [],
      )
      if (answerOf(rights)?.by === 'a lock') {
        const untried =
          place === 'masters' ? 'the rights for masters' : 'the rights of other kinds of lock'
        told.push(`${untried} (for want of ACL DRYRUN a lock of getLock was tried on one server)`)
      }
      if (told.length > 0) {
        yield {
          code: 'looked-in-part',
          at: address,
          seen: `Not known: ${told.join(', ')}.`,
          why: 'What is not known is not said to be right.',
          fix: [
            '# Ask again as a user who may, or with a longer --timeout-ms. To let this one look:',
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
          seen: `Looked at ${counted(looked.looked, 'key')}, and there are more.`,
          why: 'Keys without a TTL may be among the others.',
          fix: ['# A greater --scan-keys looks further, for a second at most.'],
          numbers: { looked: looked.looked },
        }
      }
    }
  },
}
