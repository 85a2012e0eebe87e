import type { AcquireFact, HoldFact, LockFact, OutageFact } from '../../src/index.ts'
import { shown } from '../../src/observe/facts/shown.ts'
import { subscribe } from '../../src/observe/facts/subscribe.ts'
import { assertOptions, assertRedis, assertType } from './check-options.ts'
import { HISTORY_KEY, type NewEntry } from './entry.ts'
import { type HistoryRedis, keyPrefixOf, openClient } from './open-client.ts'
import { Outbox } from './outbox.ts'

/** The options of `recordHistory`. */
export interface RecordHistoryOptions {
  /**
   * The Redis for the history: a URL, options of ioredis, `{ cluster: [...] }`, or a client of
   * ioredis. The history copies the options of such a client, and opens its own connection. The
   * history may use another Redis than the locks.
   */
  readonly redis: HistoryRedis
  /** The key of the stream; `holdfast_history` by default. */
  readonly key?: string
  /**
   * The approximate number of entries that the stream keeps; 100,000 by default. All processes
   * share the stream, and Redis removes the oldest entries.
   */
  readonly maxEvents?: number
  /**
   * Redis deletes the stream if no client writes an entry for this time, in milliseconds; a week by
   * default.
   */
  readonly ttlMs?: number
  /**
   * How many entries may wait in this process while Redis does not answer; 10,000 by default. If
   * there are more, the client drops and counts the oldest entries.
   */
  readonly maxBuffered?: number
  /**
   * The `keyPrefix` of your clients. Each recorded key begins with this prefix. By default the
   * `keyPrefix` of `redis`, or no prefix.
   */
  readonly keyPrefix?: string
  /**
   * Returns the name to record for a lock, instead of its key. Records nothing about the lock if
   * the function returns undefined or throws.
   */
  readonly nameOf?: (name: string) => string | undefined
  /**
   * Called when Redis does not store entries. Called again only after Redis has stored entries. By
   * default emits a process warning with the code HOLDFAST_HISTORY.
   */
  readonly onError?: (error: Error) => void
}

/** A recording of the history, which lasts until `stop()`. */
export interface History {
  /**
   * Stops the recording, writes the remaining entries for at most two seconds, and closes the
   * connection. Entries that are not written by then are lost. Never rejects.
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
 * Records the activity of all Holdfast clients of this process from now on, in one stream of Redis
 * with a limited length. Other processes can write to the same stream. The recording never delays a
 * lock, and never makes a lock fail.
 *
 * @throws `TypeError` for an invalid option
 */
export function recordHistory(options: RecordHistoryOptions): History {
  assertOptions(options, 'recordHistory()', OPTIONS)
  const { redis, key = HISTORY_KEY, nameOf } = options
  if (typeof key !== 'string' || key === '') {
    throw new TypeError(`key must be the name of a stream; got ${key === '' ? '""' : shown(key)}.`)
  }
  assertRedis(redis)
  assertType(options.keyPrefix, 'keyPrefix', 'string')
  assertType(nameOf, 'nameOf', 'function')
  assertType(options.onError, 'onError', 'function')
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
      finish: (fact) => {
        const entry = entryOfCall(fact)
        if (entry !== undefined) add(fact, entry)
      },
    },
    hold: {
      start: (fact) => add(fact, entryOfGrant(fact)),
      finish: (fact) => add(fact, entryOfEnd(fact)),
    },
    outage: {
      start: (fact) => outbox.add(entryOfServer(fact, 'unreachable', messageOf(fact.error))),
      finish: (fact) => {
        if (fact.outcome === 'recovered')
          outbox.add(entryOfServer(fact, 'recovered', lengthOf(fact)))
      },
    },
  })
  let ending: Promise<void> | undefined
  return {
    stop: () => {
      unsubscribe()
      ending ??= outbox.flush(STOP_MS)
      return ending
    },
  }
}

/**
 * Returns the entry for a call that got no lease, or for a permit without a lease, which has no
 * hold. Undefined for re-entries, and for calls that got a hold, because `hold` events record these
 * calls.
 */
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
  return `down for ${Math.round(outageMs)} ms, ${attempts} attempts failed`
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
    `The history of locks cannot be written: ${message.replace(/\.$/, '')}. The client retries. No lock is affected.`,
    { code: 'HOLDFAST_HISTORY' },
  )
}
