import { element } from './dom.js'
import { count, whoOf } from './format.js'

/** An empty cell says so to those who listen, and looks like nothing. */
const none = () => element('span', {}, '–')

const ageOf = (since) =>
  since === null || since === undefined ? none() : element('span', { 'data-since': since })

const first = (row) => row.holders[0]

function holderCell(row) {
  const holder = first(row)
  if (holder === undefined) return none()
  const more = row.holderCount > 1 ? ` and ${count(row.holderCount - 1)} more` : ''
  return element('span', { title: holder.owner }, whoOf(holder) + more)
}

function leftCell(row) {
  const holder = first(row)
  if (holder === undefined) return none()
  if (holder.until === null) return element('span', { class: 'never' }, 'no expiry')
  return element('span', { 'data-until': holder.until })
}

/**
 * `value` is what it is sorted by: undefined comes last, whichever way.
 *
 * @type {{ id: string, name: string, isNumber?: boolean, down?: boolean, value: (row: any) => any, cell: (row: any) => Node }[]}
 */
export const columns = [
  {
    id: 'key',
    name: 'Lock',
    value: (row) => row.key,
    cell: ({ key }) => element('span', { class: 'key', title: key }, key),
  },
  {
    id: 'kind',
    name: 'Kind',
    value: (row) => row.kind,
    cell: ({ kind }) => element('span', {}, kind),
  },
  {
    id: 'state',
    name: 'State',
    value: (row) => row.state,
    cell: ({ state }) => element('span', { class: `mark mark-${state}` }, state),
  },
  {
    id: 'holder',
    name: 'Holder',
    value: (row) => first(row) && whoOf(first(row)),
    cell: holderCell,
  },
  {
    id: 'held',
    name: 'Held for',
    isNumber: true,
    down: true,
    value: (row) => first(row)?.since && -first(row).since,
    cell: (row) => ageOf(first(row)?.since),
  },
  {
    id: 'left',
    name: 'Lease left',
    isNumber: true,
    value: (row) => first(row) && (first(row).until ?? Number.POSITIVE_INFINITY),
    cell: leftCell,
  },
  {
    id: 'waiting',
    name: 'Waiting',
    isNumber: true,
    down: true,
    value: (row) => row.waiting,
    cell: ({ waiting }) => (waiting === 0 ? none() : element('span', {}, count(waiting))),
  },
  {
    id: 'oldest',
    name: 'Oldest wait',
    isNumber: true,
    down: true,
    value: (row) => row.waitingSince && -row.waitingSince,
    cell: (row) => ageOf(row.waitingSince),
  },
]

/** @returns whether the row has the words of the filter in its name, its holder or its host */
export function matches(row, words) {
  if (words.length === 0) return true
  const text = [
    row.key,
    row.kind,
    ...row.holders.flatMap((one) => [one.label, one.host, one.owner]),
  ]
    .join('\n')
    .toLowerCase()
  return words.every((word) => text.includes(word))
}

export function inOrder(rows, { id, isDown }) {
  const { value } = columns.find((column) => column.id === id)
  const sign = isDown ? -1 : 1
  const valued = rows.map((row) => ({ row, value: value(row) }))
  valued.sort((a, b) => {
    if (a.value === b.value) return compare(a.row.key, b.row.key)
    if (a.value === undefined || a.value === null) return 1
    if (b.value === undefined || b.value === null) return -1
    return sign * compare(a.value, b.value)
  })
  return valued.map(({ row }) => row)
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)
