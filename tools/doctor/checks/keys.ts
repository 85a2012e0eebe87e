import { shellWord } from '../../inspection/shell-word.ts'
import { answerOf } from '../facts/facts.ts'
import type { Check } from './check.ts'

/** Checks for keys of locks that never expire. */
export const keys: Check = {
  codes: {
    'lock-without-ttl': 'warning',
    'key-without-ttl': 'warning',
    'counter-without-ttl': 'note',
  },
  *run({ servers }) {
    for (const { address: at, cli, keys: fact } of servers) {
      const found = answerOf(fact)
      if (found === undefined) continue
      const { locks, others, counters, looked } = found
      const paste = (command: string, names: readonly string[], ...more: string[]) =>
        names
          .slice(0, 3)
          .map((name) =>
            name.includes('\0')
              ? `# ${command} from a program: a shell cannot pass a name with a NUL byte.`
              : [cli, command, shellWord(name), ...more].join(' '),
          )
      if (locks.length > 0) {
        yield {
          code: 'lock-without-ttl',
          at,
          seen: `${count(locks)} held, without a TTL: ${some(locks)}.`,
          why: 'The lock outlives its holder, so no other client can acquire it. PERSIST removed its TTL, or the key was restored without it.',
          fix: ['# If its holder is certainly gone:', ...paste('DEL', locks)],
          numbers: { locks: locks.length, looked },
        }
      }
      if (others.length > 0) {
        yield {
          code: 'key-without-ttl',
          at,
          seen: `${count(others)} keys of Holdfast have no TTL: ${some(others)}.`,
          why: 'Keys of Holdfast normally expire. If these keys stay, they may block waiters.',
          fix: ['# Make these keys expire in a minute:', ...paste('PEXPIRE', others, '60000')],
          numbers: { keys: others.length, looked },
        }
      }
      if (counters.length > 0) {
        yield {
          code: 'counter-without-ttl',
          at,
          seen: `${count(counters)} counters of fencing tokens never expire: ${some(counters)}.`,
          why: 'Such counters are normal with keepCounters, and with Redisson. Each counter takes about 150 bytes of memory.',
          fix: [
            '# With keepCounters or Redisson, do nothing. Otherwise make the counters expire in an hour:',
            ...paste('PEXPIRE', counters, '3600000'),
          ],
          numbers: { counters: counters.length, looked },
        }
      }
    }
  },
}

const MOST_NAMES = 20

const count = (names: readonly string[]): string =>
  names.length >= MOST_NAMES ? `${MOST_NAMES} or more` : `${names.length}`

const some = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')}, …` : names.join(', ')
