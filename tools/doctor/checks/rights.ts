import { answerOf } from '../facts/facts.ts'
import type { Check } from './check.ts'

/** Checks for rights that the login lacks. */
export const rights: Check = {
  codes: { 'missing-rights': 'error', 'lock-refused': 'error', 'rights-of-kinds': 'note' },
  *run({ servers, terms }) {
    for (const { address: at, cli, rights: fact } of servers) {
      const facts = answerOf(fact)
      if (facts === undefined) continue
      const { user, missing, refusal } = facts
      if (refusal !== undefined) {
        yield {
          code: 'lock-refused',
          at,
          seen: `The user ${user} could not acquire a test lock: ${refusal}`,
          why: 'With this login, clients cannot acquire locks, or cannot inspect them.',
          fix: /NOPERM|run this command/.test(refusal)
            ? ['# The rights are listed in docs/reference/acl.md']
            : [
                '# The message of Redis shows the reason; docs/reference/errors.md lists what to do.',
              ],
          numbers: { user },
        }
      }
      const grant = (rules: readonly string[]) => `${cli} ACL SETUSER ${user} ${rules.join(' ')}`
      const rulesOf = (one: (typeof missing)[number]) => [
        ...one.commands.map((command) => `+${command.toLowerCase()}`),
        ...one.patterns.map((pattern) => `'${pattern}'`),
      ]
      const isNeeded = ({ kind }: { kind: string }) =>
        NEEDED.has(kind) || (kind === 'durability' && terms.durability !== 0)
      const needed = missing.filter(isNeeded)
      if (needed.length > 0) {
        const rules = [...new Set(needed.flatMap(rulesOf))]
        const keys = needed.flatMap(({ patterns }) => patterns)
        yield {
          code: 'missing-rights',
          at,
          seen: `The user ${user} lacks ${rules.join(' ')}.`,
          why: 'Locks cannot be acquired, renewed or released with this login: calls reject with HOLDFAST_REFUSED.',
          fix: [
            grant(rules),
            ...(keys.length > 0 && terms.keyPrefix === ''
              ? ['# or, if the locks have a keyPrefix, run this command with --key-prefix']
              : []),
          ],
          numbers: { user, missing: rules.length },
        }
      }
      const others = missing.filter((one) => !isNeeded(one))
      if (others.length > 0) {
        const rules = [...new Set(others.flatMap(rulesOf))]
        yield {
          code: 'rights-of-kinds',
          at,
          seen: `The user ${user} may not use: ${others.map(({ kind }) => kind).join(', ')}.`,
          why: 'You need these rights only if you use these kinds of lock.',
          fix: [grant(rules)],
          numbers: { user, missing: rules.length },
        }
      }
    }
  },
}

/** The kinds of rights that every lock of a deployment needs. */
const NEEDED = new Set(['lock', 'masters', 'cluster'])
