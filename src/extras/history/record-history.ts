import type { AcquireFact, HoldFact, LockFact, OutageFact } from '../../index.ts'
import { shown } from '../facts/shown.ts'
import { subscribe } from '../facts/subscribe.ts'
import { assertFunction, assertOptions, assertRedis, assertText } from './check-options.ts'
import { HISTORY_KEY, type NewEntry } from './entry.ts'
import { type HistoryRedis, keyPrefixOf, openClient } from './open-client.ts'
import { Outbox } from './outbox.ts'

/** What is recorded, and where. */
export interface RecordHistoryOptions {
  /**
   * Where the history is kept: a URL, options of ioredis, `{ cluster: [...] }`, or a client of ioredis, of which the
   * options are taken. It need not be where the locks are. A connection of its own is opened.
   */
  readonly redis: HistoryRedis
  /** The key of the stream; `holdfast_history`. */
  readonly key?: string
  /** About how many entries are kept, of all processes together; 100,000. Redis takes away the oldest. */
  readonly maxEvents?: number
  /** The stream ends so long after the last entry, in milliseconds; a week. */
  readonly ttlMs?: number
  /** How many entries wait in this process while Redis is away; 10,000. Of more the oldest are dropped, and counted. */
  readonly maxBuffered?: number
  /**
   * What stands before the name of a lock in Redis; the `keyPrefix` of the options in `redis`, and else nothing. Give
   * what the clients have as `keyPrefix`.
   */
  readonly keyPrefix?: string
  /** Under which name a lock is recorded, instead of its key; undefined, or a throw, records nothing of it. */
  readonly nameOf?: (name: string) => string | undefined
  /** Told when entries cannot be written, once until they are again; a process warning with the code HOLDFAST_HISTORY. */
  readonly onError?: (error: Error) => void
}

/** What is recorded, until `stop()`. */
export interface History {
  /**
   * Records nothing more, writes what is not written yet, for two seconds at most, and closes the connection. Never
   * rejects; what could not be written by then is lost.
   */
  stop(): Promise<void>
}

const OPTIONS = [
  'redis',
  'key',
  'maxEvents',
  'ttlMs',
  'maxBuffered',
  'keyPrefix',
  'nameOf',
  'onError',
] as const satisfies (keyof RecordHistoryOptions)[]

const WEEK_MS = 7 * 24 * 3_600_000
const STOP_MS = 2_000

/**
 * Records what all Holdfast clients of this process do, from now on, in one capped stream of Redis, which other
 * processes write to as well. No lock waits for it, and none fails because of it.
 *
 * @throws `TypeError` for an option that makes no sense, with what it got
 */
export function recordHistory(options: RecordHistoryOptions): History {
  assertOptions(options, 'recordHistory()', OPTIONS)
  const { redis, key = HISTORY_KEY, nameOf } = options
  if (typeof key !== 'string' || key === '') {
    throw new TypeError(`key must be the name of a stream; got ${key === '' ? '""' : shown(key)}.`)
  }
  assertRedis(redis)
  assertText(options.keyPrefix, 'keyPrefix')
  assertFunction(nameOf, 'nameOf')
  assertFunction(options.onError, 'onError')
  const outbox = new Outbox(openClient(redis, 1_000), {
    key,
    maxEvents: wholeNumber(options.maxEvents ?? 100_000, 'maxEvents'),
    ttlMs: wholeNumber(options.ttlMs ?? WEEK_MS, 'ttlMs'),
    maxBuffered: wholeNumber(options.maxBuffered ?? 10_000, 'maxBuffered'),
    onError: options.onError ?? warn,
  })
  const keyPrefix = options.keyPrefix ?? keyPrefixOf(redis)
  const add = (fact: LockFact, entry: NewEntry) => {
    const key = keyPrefix + fact.name
    const name = nameOf === undefined ? key : nameOf(fact.name)
    if (name === undefined) return
    const { client, label, kind } = fact
    outbox.add({ client, label, kind, name, isGroup: name !== key, ...entry })
  }
  const unsubscribe = subscribe({
    acquire: {
      end: (fact) => {
        const entry = entryOfCall(fact)
        if (entry !== undefined) add(fact, entry)
      },
    },
    hold: {
      start: (fact) => add(fact, entryOfGrant(fact)),
      end: (fact) => add(fact, entryOfEnd(fact)),
    },
    outage: {
      start: (fact) => outbox.add(entryOfServer(fact, 'unreachable', messageOf(fact.error))),
      end: (fact) => {
        if (fact.outcome === 'recovered')
          outbox.add(entryOfServer(fact, 'recovered', lengthOf(fact)))
      },
    },
  })
  let ending: Promise<void> | undefined
  return {
    stop: () => {
      unsubscribe()
      ending ??= outbox.end(STOP_MS)
      return ending
    },
  }
}

/** What is granted is told by its hold, of which a plain permit has none; a re-entry is no event. */
function entryOfCall(fact: AcquireFact): NewEntry | undefined {
  const { outcome, waitedMs, owner, error, kind, path, token } = fact
  if (outcome === 'granted') {
    if (kind !== 'semaphore') return undefined
    return { event: 'acquired', owner, token, waitedMs, path }
  }
  if (outcome === undefined) return undefined
  if (outcome === 'closed') return { event: 'aborted', owner, waitedMs, reason: outcome }
  const failed = outcome === 'outage' || outcome === 'failed'
  return { event: outcome, owner, waitedMs, reason: failed ? messageOf(error) : undefined }
}

function entryOfGrant({ owner, token, leaseMs, limitMs, acquire }: HoldFact): NewEntry {
  const { waitedMs, path } = acquire ?? {}
  return { event: 'acquired', owner, token, leaseMs, limitMs, waitedMs, path }
}

function entryOfEnd({ owner, token, heldMs, outcome, stalledMs }: HoldFact): NewEntry {
  const ended = { owner, token, heldMs }
  if (outcome === 'expired' || outcome === 'gone') {
    return { ...ended, event: 'lost', reason: outcome, stalledMs }
  }
  if (outcome === 'forced') return { ...ended, event: outcome }
  return { ...ended, event: 'released', reason: outcome === 'closed' ? outcome : undefined }
}

function entryOfServer(
  { client, label, address }: OutageFact,
  event: NewEntry['event'],
  reason: string | undefined,
): NewEntry {
  return { event, client, label, name: address, reason }
}

function lengthOf({ outageMs = 0, attempts = 0 }: OutageFact): string {
  return `out for ${Math.round(outageMs)} ms, ${attempts} attempts failed`
}

function messageOf(error: unknown): string | undefined {
  return error instanceof Error ? error.message.slice(0, 200) : undefined
}

function wholeNumber(value: number, option: string): number {
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new TypeError(`${option} must be a whole number of at least 1; got ${shown(value)}.`)
}

function warn({ message }: Error): void {
  process.emitWarning(
    `The history of locks cannot be written: ${message}. It is tried again; no lock is affected.`,
    { code: 'HOLDFAST_HISTORY' },
  )
}
