import { concernsOf, isHeld, isWaitedFor, LEVELS } from './concerns.js'
import { element, icon } from './dom.js'
import { count, whoOf } from './format.js'
import { wordsOf } from './kinds.js'
import { nameOf } from './names.js'

/** Makes the content of an empty cell: a dash, which screen readers also read. */
const none = () => element('span', { class: 'none' }, '–')

const ageOf = (since) =>
  since === null || since === undefined ? none() : element('span', { 'data-since': since })

const first = (row) => row.holders[0]

/** Makes the content of a holder cell: the first holder, and the number of other holders. */
export function holdersOf(row) {
  const holder = first(row)
  if (holder === undefined) return none()
  const more = row.holderCount > 1 ? ` +${count(row.holderCount - 1)}` : null
  return element(
    'span',
    { class: 'holders', title: `${holder.owner}${more ?? ''}` },
    element('span', {}, whoOf(holder)),
    more && element('span', {}, more),
  )
}

function leftCell(row) {
  const holder = first(row)
  if (holder === undefined) return none()
  if (holder.until === null) return element('span', {}, 'no expiry')
  return element('span', { 'data-until': holder.until })
}

/**
 * Makes a mark with the state. The colour, the icon and a hidden text of the mark show the worst
 * concern of the row.
 */
export function stateMark({ state, stateText, kind }, concerns) {
  const [worst] = concerns
  const mark = element('span', { class: `mark mark-${wordsOf(kind).stateClass ?? state}` })
  if (worst !== undefined) {
    mark.classList.add(worst.level)
    mark.append(icon(worst.level))
    mark.title = concerns.map(({ text }) => text).join('\n')
  }
  mark.append(element('span', {}, stateText))
  if (worst !== undefined) mark.append(element('span', { class: 'unseen' }, `, ${worst.text}`))
  return mark
}

/**
 * The columns of the table. `value` returns the sort key of a row. Rows without a value come last
 * in both directions.
 *
 * @type {{ id: string, name: string, isNumber?: boolean, down?: boolean, value: (row: any, concerns: any[]) => any, cell: (row: any, concerns: any[], prefix: string) => Node }[]}
 */
export const columns = [
  {
    id: 'key',
    name: 'Lock',
    value: (row) => row.key,
    cell: ({ key }, _, prefix) => nameOf(key, prefix),
  },
  {
    id: 'state',
    name: 'State',
    down: true,
    // The rows with the worst level come first. Within a level, the order is by the oldest wait,
    // then by the number of waiters, then by the oldest hold.
    value: (row, concerns) => [
      LEVELS[concerns[0]?.level] ?? 0,
      isWaitedFor(row) && row.waitingSince ? -row.waitingSince : Number.NEGATIVE_INFINITY,
      row.waiting,
      first(row)?.since ? -first(row).since : Number.NEGATIVE_INFINITY,
    ],
    cell: stateMark,
  },
  {
    id: 'kind',
    name: 'Kind',
    value: (row) => row.kind,
    cell: ({ kind }) => element('span', {}, kind),
  },
  {
    id: 'holder',
    name: 'Holder',
    value: (row) => first(row) && whoOf(first(row)),
    cell: holdersOf,
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

const shows = {
  used: (row) => row.state !== 'free' || row.waiting > 0 || row.problem !== null,
  held: isHeld,
  waited: isWaitedFor,
  attention: (_, concerns) => concerns.length > 0,
  all: () => true,
}

/** @returns true if the chosen list includes the row */
export const isShown = (row, concerns, show) => shows[show](row, concerns)

/**
 * @returns true if the name, the kind, the holders or the hosts of the row contain all words of the
 * filter
 */
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

/** @param {{ row: any, concerns: any[] }[]} listed */
export function inOrder(listed, sort, isDown) {
  const { value } = columns.find(({ id }) => id === sort) ?? columns[1]
  const sign = isDown ? -1 : 1
  const valued = listed.map((one) => ({ one, value: value(one.row, one.concerns) }))
  valued.sort((a, b) => {
    const isLast = (of) => of.value === undefined || of.value === null
    if (isLast(a) || isLast(b)) {
      return isLast(a) - isLast(b) || compare(a.one.row.key, b.one.row.key)
    }
    return sign * compareAll(a.value, b.value) || compare(a.one.row.key, b.one.row.key)
  })
  return valued.map(({ one }) => one)
}

function compareAll(a, b) {
  if (!Array.isArray(a)) return compare(a, b)
  for (let i = 0; i < a.length; i++) {
    const order = compare(a[i], b[i])
    if (order !== 0) return order
  }
  return 0
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)

/** Returns the row with its concerns at the moment `now`. */
export const listedAt = (row, now) => ({ row, concerns: concernsOf(row, now) })
