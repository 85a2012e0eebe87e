import { answerOf } from '../facts/facts.ts'
import type { Check } from './check.ts'

/** Keys of locks that never end by themselves. */
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
      const paste = (command: string, names: readonly string[]) =>
        names.slice(0, 3).map((name) => `${cli} ${command} ${quoted(name)}`)
      if (locks.length > 0) {
        yield {
          code: 'lock-without-ttl',
          at,
          seen: `${count(locks)} held, without a TTL: ${some(locks)}.`,
          why: 'The lock outlives its holder, and nobody else ever gets it. Somebody ran PERSIST, or restored it without its TTL.',
          fix: ['# When its holder is gone for sure:', ...paste('DEL', locks)],
          numbers: { locks: locks.length, looked },
        }
      }
      if (others.length > 0) {
        yield {
          code: 'key-without-ttl',
          at,
          seen: `${count(others)} of Holdfast's have no TTL: ${some(others)}.`,
          why: 'Those keys end by themselves as a rule. What stays may stand in the way of others who wait.',
          fix: [
            '# They end in a minute:',
            ...paste('PEXPIRE', others).map((line) => `${line} 60000`),
          ],
          numbers: { keys: others.length, looked },
        }
      }
      if (counters.length > 0) {
        yield {
          code: 'counter-without-ttl',
          at,
          seen: `${count(counters)} of fencing tokens stay for good: ${some(counters)}.`,
          why: 'So it is meant with keepCounters, and with Redisson. Each name that was ever locked takes about 150 bytes.',
          fix: [
            '# Nothing to do with keepCounters or Redisson. Else they may go in an hour:',
            ...paste('PEXPIRE', counters).map((line) => `${line} 3600000`),
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

const quoted = (name: string): string => `'${name.replaceAll("'", `'\\''`)}'`
