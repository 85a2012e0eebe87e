import type { HolderRow, LockDetail, ProcessFacts, WaiterRow } from '../../inspection/inspection.ts'
import type { RenewalCheck, ToFree } from '../../inspection/to-free.ts'
import { viewOf } from '../../kinds/all.ts'
import { type Column, table } from '../text/table.ts'
import { counted, duration, escaped, wrapped } from '../text/words.ts'
import { holderName } from './holders.ts'
import { endedRuns, lastRunLines } from './runs-text.ts'

/** One lock, as `inspect --json` prints it. */
export interface Inspected extends Omit<LockDetail, 'holders'> {
  readonly name: string
  readonly holders: readonly (HolderRow & { readonly renewal: RenewalCheck })[]
  readonly toFree: ToFree
}

const WIDEST = 100
/** The most waiters that the text names. JSON may name more. */
const MOST = 20

export function detailText(lock: Inspected, address: string, width: number): string {
  const { name, key, kind, stateText, token, votes, holders, queue, job, toFree } = lock
  const { hasToken = true, lines } = viewOf(kind)
  const facts = [
    ['kind', kind],
    ['state', stateText],
    ...(hasToken ? [['token', token === null ? 'none is known' : `${token}`]] : []),
    ...(lines?.(lock) ?? []),
    ...(job === undefined ? [] : lastRunLines(job)),
    ...(votes === null ? [] : [['votes', escaped(votes)]]),
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
    if (queue.length > MOST) lines.push(`and ${queue.length - MOST} more`)
    blocks.push(section('Waiting', lines))
  }
  const runs = job === undefined ? [] : endedRuns(job, width - 2)
  if (runs.length > 0) blocks.push(section('Ended runs', runs))
  const sentences = toFree.sentences.flatMap((one) =>
    wrapped(escaped(one), Math.min(width, WIDEST) - 2),
  )
  blocks.push(section('To free it', sentences))
  if (toFree.command !== null) {
    const byForce =
      'By force, as the last resort. The holder notices the release at its next renewal or use, and may write until then:'
    const lines = wrapped(byForce, Math.min(width, WIDEST) - 2)
    blocks.push(`${lines.map((line) => `  ${line}`).join('\n')}\n\n  ${toFree.command}`)
  }
  return `${blocks.join('\n\n')}\n`
}

const section = (head: string, lines: readonly string[]): string =>
  [head, ...lines.map((line) => `  ${line}`)].join('\n')

function waitingText({ waiting, queue, oldestWaitMs }: Inspected): string {
  const dead = queue.filter(({ isDead }) => isDead).length
  const deadToo = dead === 0 ? '' : `, without ${counted(dead, 'dead waiter')}`
  if (waiting === 0) return `none${deadToo}`
  if (oldestWaitMs !== null) {
    return `${waiting}, the longest for ${duration(oldestWaitMs)}${deadToo}`
  }
  return queue.length > 0 ? `${waiting}${deadToo}` : `${counted(waiting, 'client')}, in no queue`
}

type InspectedHolder = Inspected['holders'][number]

const holderColumns: readonly Column<InspectedHolder>[] = [
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
  { head: 'RENEWED', text: renewalText, spare: 5 },
  { head: 'LAST SEEN', text: ({ process }) => seenText(process), isNumber: true, spare: 4 },
  { head: 'OWNER', text: ({ owner }) => escaped(owner), least: 12, spare: 1 },
]

/** Says if a renewal was seen. If no renewal was seen, a renewal may still come later. */
function renewalText({ renewal }: InspectedHolder): string {
  return renewal === 'renewed' ? 'yes' : 'not seen'
}

const seenText = (process: ProcessFacts | null): string =>
  process?.seenMs == null ? '-' : `${duration(process.seenMs)} ago`

const waiterColumns: readonly Column<WaiterRow>[] = [
  { head: 'WAITER', text: (one) => holderName({ ...one, isRedisson: false }), least: 12 },
  { head: 'WANTS', text: ({ wants }) => wants ?? 'the lock', spare: 5 },
  { head: 'HOST', text: ({ process }) => escaped(process?.host ?? '-'), least: 8, spare: 2 },
  { head: 'PID', text: ({ process }) => `${process?.pid ?? '-'}`, isNumber: true },
  { head: 'FOR', text: ({ waitedMs }) => span(waitedMs), isNumber: true },
  { head: 'ALIVE', text: ({ isDead }) => (isDead ? 'no' : 'yes') },
  { head: 'LAST SEEN', text: ({ process }) => seenText(process), isNumber: true, spare: 4 },
  { head: 'OWNER', text: ({ owner }) => escaped(owner), least: 12, spare: 1 },
]

const span = (ms: number | null): string => (ms === null ? '-' : duration(ms))
