import { type HistoryEntry, readHistory } from '../../history/history.ts'
import { type RedisGiven, redisOf } from '../../servers/redis-of.ts'
import { type Command, EXIT, type Terminal } from '../command/command.ts'
import { type HistoryCommandOptions, readOptions, USAGE } from './options.ts'
import { HOW_TO_TURN_IT_ON, lineOf, sumOf } from './text.ts'

/** `npx holdfast history`: prints the events that services recorded. */
export const history: Command = {
  name: 'history',
  summary: 'list past holds: their owners, times and durations, and losses',
  usage: USAGE,
  async run(args, terminal) {
    const options = readOptions(args, terminal.env)
    try {
      const redis = await whereItIs(options)
      if (redis === undefined && !options.follow) {
        terminal.err(HOW_TO_TURN_IT_ON)
        return EXIT.findings
      }
      return await printEntries(
        redis ?? (redisOf(options.where)[0] as RedisGiven),
        options,
        terminal,
      )
    } catch (error) {
      terminal.err(
        `The history could not be read: ${(error as Error).message.replace(/\.$/, '')}.\n`,
      )
      return EXIT.failed
    }
  },
}

/**
 * Returns the first server that has entries of the history. With several masters, any master may
 * have the history. If no server has entries, rejects if a server failed, and otherwise returns
 * undefined.
 */
async function whereItIs({
  where,
  historyKey,
}: HistoryCommandOptions): Promise<RedisGiven | undefined> {
  const all = redisOf(where)
  let failure: unknown
  for (const redis of all) {
    try {
      for await (const _ of readHistory({ redis, key: historyKey, last: 1 })) return redis
    } catch (error) {
      failure ??= error
    }
  }
  if (failure !== undefined) throw failure
  return undefined
}

async function printEntries(
  redis: RedisGiven,
  { name, keyPrefix, historyKey, last, sinceMs, follow, json }: HistoryCommandOptions,
  { out, err }: Terminal,
): Promise<number> {
  const key = name === undefined ? undefined : keyPrefix + name
  const wish = { redis, key: historyKey, name: key, last, since: sinceMs }
  const text = (entry: HistoryEntry) =>
    json ? `${JSON.stringify(entry)}\n` : lineOf(entry, keyPrefix)
  if (follow) {
    const stopping = new AbortController()
    const stop = () => stopping.abort()
    // If a reader such as `head` closes the output early, this command ends.
    process.stdout.once('error', stop)
    try {
      for await (const entry of readHistory({ ...wish, follow, signal: stopping.signal })) {
        out(text(entry))
      }
    } finally {
      process.stdout.off('error', stop)
    }
    return EXIT.ok
  }
  const entries: HistoryEntry[] = []
  for await (const entry of readHistory(wish)) entries.push(entry)
  if (entries.length === 0) {
    const what = name === undefined ? 'locks' : JSON.stringify(name)
    err(`Nothing is recorded about ${what}${sinceMs === undefined ? '' : ' since then'}.\n`)
    if (name !== undefined) {
      err(
        'The lock may be recorded without its keyPrefix, or under a name from nameOf: npx holdfast history lists all.\n',
      )
    }
    return EXIT.findings
  }
  entries.reverse()
  for (const entry of entries) out(text(entry))
  if (!json) out(sumOf(entries))
  return EXIT.ok
}
