import type { AcquirePath, KindName } from '../../src/index.ts'

/** The default key of the history, which is a stream of Redis. */
export const HISTORY_KEY = 'holdfast_history'

const EVENTS = [
  'acquired',
  'released',
  'lost',
  'forced',
  'timeout',
  'aborted',
  'outage',
  'failed',
  'dropped',
  'unreachable',
  'recovered',
] as const

/**
 * The kind of event. A hold has `acquired`, and usually later `released`, `lost` or `forced`. A
 * call that gets no lease has `timeout`, `aborted`, `outage` (Redis did not answer) or `failed`
 * (usually, Redis refused).
 *
 * `dropped`: entries of the history are lost, because Redis did not store them. `unreachable` and
 * `recovered` are about a server, and their `name` is the address of the server.
 */
export type HistoryEvent = (typeof EVENTS)[number]

/**
 * One entry of the history. A field is null or empty if its value is unknown, or if the event does
 * not have the field.
 */
export interface HistoryEntry {
  /** The id of the entry in the stream. A later entry has a greater id. */
  readonly id: string
  /**
   * The time of the event, in milliseconds since 1970, by the clock of the Redis that stores the
   * history.
   */
  readonly at: number
  readonly event: HistoryEvent
  /** The key of the lock, the name that `nameOf` returned, or the address of a server. Empty for `dropped`. */
  readonly name: string
  /**
   * True if `name` comes from `nameOf` and is not the key of the lock. Several locks may have such
   * a name.
   */
  readonly isGroup: boolean
  readonly kind: KindName | null
  /**
   * The owner id, as stored in Redis. An owner id of Holdfast begins with the client id and a
   * colon.
   */
  readonly owner: string | null
  /** The token of the hold. */
  readonly token: number | null
  /** The id of the client; empty if unknown. */
  readonly client: string
  /** The `label` of the client; `<host>:<pid>` by default, empty if unknown. */
  readonly label: string
  /** How long the call waited, in milliseconds. */
  readonly waitedMs: number | null
  /** How long the hold lasted, in milliseconds. */
  readonly heldMs: number | null
  /**
   * How the call acquired the lock: `free`, `local`, `granted`, `raced` or `kept`, as `AcquirePath`
   * explains.
   */
  readonly path: AcquirePath | null
  /**
   * For `lost`: `expired` or `gone`. For other events: `closed` if the client was closed, or a
   * text, such as the message of an error.
   */
  readonly reason: string | null
  /** For `lost`: how long the event loop was blocked, in milliseconds, if this caused the loss. */
  readonly stalledMs: number | null
  /**
   * For `acquired`: the length of the lease, in milliseconds. Null for a permit without a lease, or
   * if an older version of Holdfast wrote the entry.
   */
  readonly leaseMs: number | null
  /**
   * For `acquired`: the longest time that the hold can last without `extend()`, in milliseconds.
   * Null if there is no such limit, or if `leaseMs` is null.
   */
  readonly limitMs: number | null
  /** For `dropped`: the number of lost entries. */
  readonly dropped: number | null
}

/** An entry that is not written yet. Numbers are milliseconds, except `token` and `dropped`. */
export interface NewEntry {
  readonly event: HistoryEvent
  readonly name?: string
  readonly isGroup?: boolean
  readonly kind?: KindName
  readonly owner?: string | undefined
  readonly token?: number | undefined
  readonly client?: string
  readonly label?: string
  readonly waitedMs?: number | undefined
  readonly heldMs?: number | undefined
  readonly path?: AcquirePath | undefined
  readonly reason?: string | undefined
  readonly stalledMs?: number | undefined
  readonly leaseMs?: number | undefined
  readonly limitMs?: number | undefined
  readonly dropped?: number
}

/**
 * A client writes all fields of each entry in this order, because Redis then stores the field names
 * once for many entries. `agoMs` is the time from the event until the client sends the entry, in
 * milliseconds. Repeats of an entry have the same `seq`.
 */
const FIELDS = [
  'event',
  'name',
  'kind',
  'owner',
  'token',
  'client',
  'label',
  'waitedMs',
  'heldMs',
  'path',
  'reason',
  'stalledMs',
  'leaseMs',
  'limitMs',
  'group',
  'dropped',
  'agoMs',
  'seq',
] as const

/** The latest moment that a `Date` can represent, in milliseconds since 1970. */
const LAST_MOMENT_MS = 8.64e15

/**
 * Returns the fields and values for `XADD`, one after the other. `client` stays empty if the owner
 * id begins with the client id.
 */
export function fieldsOf(entry: NewEntry, agoMs: number, seq: string): string[] {
  const { owner = '', client = '' } = entry
  const values = [
    entry.event,
    entry.name,
    entry.kind,
    owner,
    entry.token,
    owner.startsWith(`${client}:`) ? '' : client,
    entry.label,
    whole(entry.waitedMs),
    whole(entry.heldMs),
    entry.path,
    entry.reason,
    whole(entry.stalledMs),
    whole(entry.leaseMs),
    whole(entry.limitMs),
    entry.isGroup ? 1 : '',
    entry.dropped,
    whole(agoMs),
    seq,
  ]
  const fields: string[] = []
  for (let i = 0; i < values.length; i++) fields.push(FIELDS[i] as string, `${values[i] ?? ''}`)
  return fields
}

/**
 * Reads one entry of the stream.
 *
 * @returns the entry, and the `seq` that its repeats share. Undefined if Holdfast did not write the
 * entry, or if the entry has no valid time
 */
export function readEntry(
  id: string,
  fields: readonly string[],
): { entry: HistoryEntry; seq: string } | undefined {
  const found = new Map<string, string>()
  for (let i = 0; i + 1 < fields.length; i += 2) found.set(`${fields[i]}`, `${fields[i + 1]}`)
  const text = (field: (typeof FIELDS)[number]) => found.get(field) || null
  // A value that is not a whole number of at least 0 becomes null, because Holdfast never writes
  // such a value.
  const number = (field: (typeof FIELDS)[number]) => {
    const value = Number(found.get(field) || Number.NaN)
    return Number.isSafeInteger(value) && value >= 0 ? value : null
  }
  const word = <T>(field: (typeof FIELDS)[number]) => {
    const value = text(field)
    return value !== null && /^[a-z-]{1,30}$/.test(value) ? (value as T) : null
  }
  const event = EVENTS.find((one) => one === found.get('event'))
  const agoMs = found.get('agoMs') ? number('agoMs') : 0
  const at = Number.parseInt(id, 10) - (agoMs ?? Number.NaN)
  if (event === undefined || !(at >= 0 && at <= LAST_MOMENT_MS)) return undefined
  const owner = text('owner')
  const entry: HistoryEntry = {
    id,
    at,
    event,
    name: text('name') ?? '',
    isGroup: found.get('group') === '1',
    kind: word<KindName>('kind'),
    owner,
    token: number('token'),
    client: text('client') ?? owner?.split(':', 1)[0] ?? '',
    label: text('label') ?? '',
    waitedMs: number('waitedMs'),
    heldMs: number('heldMs'),
    path: word<AcquirePath>('path'),
    reason: text('reason'),
    stalledMs: number('stalledMs'),
    leaseMs: number('leaseMs'),
    limitMs: number('limitMs'),
    dropped: number('dropped'),
  }
  return { entry, seq: text('seq') ?? id }
}

/** Rounds a number. Returns undefined for Infinity, which leaves the field of the entry empty. */
function whole(value: number | undefined): number | undefined {
  return Number.isFinite(value) ? Math.round(value as number) : undefined
}
