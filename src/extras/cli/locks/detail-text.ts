import type { HolderRow, LockDetail, WaiterRow } from '../../deployment/rows.ts'
import type { Renewal, ToFree } from '../../deployment/to-free.ts'
import { type Column, table } from '../text/table.ts'
import { counted, duration, escaped, wrapped } from '../text/words.ts'
import { holderName } from './holders.ts'

/** One lock, as `inspect --json` prints it. */
export interface Inspected extends Omit<LockDetail, 'holders'> {
  readonly name: string
  readonly holders: readonly (HolderRow & { readonly renewal: Renewal })[]
  readonly toFree: ToFree
}

const WIDEST = 100
/** No more of a queue is printed. */
const MOST = 20

/** One lock for people. */
export function detailText(lock: Inspected, address: string, width: number): string {
  const { name, key, kind, token, more, holders, queue, waiting, toFree } = lock
  const facts = [
    ['kind', kind],
    ['state', stateText(lock)],
    ['token', token === null ? 'none is known' : `${token}`],
    ...Object.entries(more).map(([what, value]) => [what, escaped(`${value}`)]),
    ['waiting', waitingText(lock)],
  ]
  if (key !== name) facts.unshift(['key', escaped(key)])
  const blocks = [
    `${escaped(name)} at ${address}`,
    facts.map(([what = '', text]) => `  ${what.padEnd(10)}  ${text}`).join('\n'),
  ]
  if (holders.length > 0) blocks.push(section('Held by', table(holderColumns, holders, width - 2)))
  if (queue.length > 0) {
    const lines = table(waiterColumns, queue.slice(0, MOST), width - 2)
    if (queue.length > MOST) lines.push(`and ${waiting - MOST} more`)
    blocks.push(section('Queue', lines))
  }
  const sentences = toFree.sentences.flatMap((one) =>
    wrapped(escaped(one), Math.min(width, WIDEST) - 2),
  )
  blocks.push(section('To free it', sentences))
  if (toFree.command !== null) {
    const told =
      'By force, as a last resort: its holder is told with its next renewal or use, and may still write until then.'
    const lines = wrapped(told, Math.min(width, WIDEST) - 2)
    blocks.push(`${lines.map((line) => `  ${line}`).join('\n')}\n\n  ${toFree.command}`)
  }
  return `${blocks.join('\n\n')}\n`
}

const section = (head: string, lines: readonly string[]): string =>
  [head, ...lines.map((line) => `  ${line}`)].join('\n')

function stateText({ kind, state, holders }: Inspected): string {
  if (kind === 'latch') return state === 'held' ? 'not open' : 'open'
  return holders.length === 0 && state === 'held' ? 'none left' : state
}

function waitingText({ waiting, queue, oldestWaitMs }: Inspected): string {
  if (waiting === 0) return 'nobody'
  if (oldestWaitMs !== null) return `${waiting}, the oldest for ${duration(oldestWaitMs)}`
  return queue.length > 0 ? `${waiting}` : `${counted(waiting, 'client')}, in no queue`
}

type Holder = Inspected['holders'][number]

const holderColumns: readonly Column<Holder>[] = [
  { head: 'HOLDER', text: holderName, least: 12 },
  { head: 'HOST', text: ({ process }) => escaped(process?.host ?? '-'), least: 8, spare: 2 },
  { head: 'PID', text: ({ process }) => `${process?.pid ?? '-'}`, isNumber: true },
  { head: 'COUNT', text: ({ holdCount }) => `${holdCount}`, isNumber: true, spare: 3 },
  { head: 'HELD FOR', text: ({ ageMs }) => span(ageMs), isNumber: true },
  {
    head: 'LEASE LEFT',
    text: ({ ttlMs }) => (ttlMs === null ? 'no expiry' : duration(ttlMs)),
    isNumber: true,
  },
  { head: 'RENEWED', text: renewalText },
  { head: 'OWNER', text: ({ owner }) => escaped(owner), least: 12, spare: 1 },
]

/** Of a process that was heard of lately a lease is renewed, unless it is of a fixed length. */
function renewalText({ renewal, process }: Holder): string {
  if (renewal === 'renewed') return 'yes'
  return process === null ? 'not seen' : 'process seen'
}

const waiterColumns: readonly Column<WaiterRow>[] = [
  { head: 'WAITS', text: (one) => holderName({ ...one, isRedisson: false }), least: 12 },
  { head: 'HOST', text: ({ process }) => escaped(process?.host ?? '-'), least: 8, spare: 2 },
  { head: 'PID', text: ({ process }) => `${process?.pid ?? '-'}`, isNumber: true },
  { head: 'FOR', text: ({ waitedMs }) => span(waitedMs), isNumber: true },
  { head: 'ALIVE', text: ({ isDead }) => (isDead ? 'no' : 'yes') },
  { head: 'OWNER', text: ({ owner }) => escaped(owner), least: 12, spare: 1 },
]

const span = (ms: number | null): string => (ms === null ? '-' : duration(ms))
