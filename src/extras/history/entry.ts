import type { AcquirePath, KindName } from '../../index.ts'

/** Where the entries are, unless a `key` is given. */
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
 * What happened. `acquired`, and then `released`, `lost` or `forced` are of one hold. A call that got no lease came to
 * `timeout`, `aborted`, `outage` (Redis did not answer) or `failed` (it refused). `dropped` is of the history itself:
 * entries that could not be written. `unreachable` and `recovered` are of a server of locks, whose address is the name.
 */
export type HistoryEvent = (typeof EVENTS)[number]

/** One entry, as it is read. What is not known, or makes no sense of the event, is null. */
export interface HistoryEntry {
  /** Of the entry in the stream: what comes later is greater. */
  readonly id: string
  /** When it happened, in milliseconds since 1970 by the clock of the server. */
  readonly at: number
  readonly event: HistoryEvent
  /** The key of the lock, or what `nameOf` made of its name. */
  readonly name: string
  readonly kind: KindName | null
  /** `<clientId>:<owner>`, as it stands in Redis. */
  readonly owner: string | null
  /** The fencing token of the hold. */
  readonly token: number | null
  /** The id of the client. */
  readonly client: string
  /** The `label` of the client: host and pid, unless it was given another. */
  readonly label: string
  /** How long the call waited, in milliseconds. */
  readonly waitedMs: number | null
  /** How long the hold lasted, in milliseconds. */
  readonly heldMs: number | null
  /** How it was got: `free`, `local`, `granted` or `raced`. */
  readonly path: AcquirePath | null
  /**
   * Of a loss `expired` or `gone`; `closed` where the client was closed; of an outage or a failure the message; of a
   * recovery how long the server was out.
   */
  readonly reason: string | null
  /** Of a loss: for how long the event loop had stood still, in milliseconds, if that is why. */
  readonly stalledMs: number | null
  /** Of `dropped`: how many entries. */
  readonly dropped: number | null
}

/** An entry before it is written. Numbers are whole milliseconds, but for the token and `dropped`. */
export interface NewEntry {
  readonly event: HistoryEvent
  readonly name?: string
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
  readonly dropped?: number
}

/**
 * All entries have all fields in this order: so Redis keeps their names once for many. `agoMs` is how long before the
 * entry was sent it happened; `seq` is its writer and its number there, by which a repeat is known.
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
  'dropped',
  'agoMs',
  'seq',
] as const

/** What XADD takes. The id of the client, with which its owners begin, is written once. */
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
    entry.dropped,
    whole(agoMs),
    seq,
  ]
  const fields: string[] = []
  for (let i = 0; i < values.length; i++) fields.push(FIELDS[i] as string, `${values[i] ?? ''}`)
  return fields
}

/** @returns the entry, and by what a repeat of it is known; undefined for what is none of ours */
export function readEntry(
  id: string,
  fields: readonly string[],
): { entry: HistoryEntry; seq: string } | undefined {
  const found = new Map<string, string>()
  for (let i = 0; i + 1 < fields.length; i += 2) found.set(`${fields[i]}`, `${fields[i + 1]}`)
  const text = (field: (typeof FIELDS)[number]) => found.get(field) || null
  const number = (field: (typeof FIELDS)[number]) => {
    const value = found.get(field)
    return value && Number.isFinite(Number(value)) ? Number(value) : null
  }
  const event = EVENTS.find((one) => one === found.get('event'))
  if (event === undefined) return undefined
  const owner = text('owner')
  const entry: HistoryEntry = {
    id,
    at: Number.parseInt(id, 10) - (number('agoMs') ?? 0),
    event,
    name: text('name') ?? '',
    kind: text('kind') as KindName | null,
    owner,
    token: number('token'),
    client: text('client') ?? owner?.split(':', 1)[0] ?? '',
    label: text('label') ?? '',
    waitedMs: number('waitedMs'),
    heldMs: number('heldMs'),
    path: text('path') as AcquirePath | null,
    reason: text('reason'),
    stalledMs: number('stalledMs'),
    dropped: number('dropped'),
  }
  return { entry, seq: text('seq') ?? id }
}

function whole(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value)
}
