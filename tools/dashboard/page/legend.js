// The legend: the meaning of the bars, and the colour of each holder.
import { element, printable } from './dom.js'
import { whoOf } from './format.js'
import { paint } from './lanes.js'

const MOST_NAMES = 12

const LOOKS = [
  ['released', 'released'],
  ['held', 'still held'],
  ['unrecorded', 'no end recorded: it ended in the hatched time'],
  ['lost', 'lost'],
  ['forced', 'taken by force'],
  ['untold', 'permit without a lease: its end is unknown'],
]

/**
 * Makes the legend. The legend always explains the bars of released and current holds. It explains
 * other bars only if the chart has such bars.
 */
export function legendOf({ lanes }) {
  const spans = lanes.flatMap((lane) => lane.spans)
  const endings = new Set(['released', 'held', ...spans.map(({ ending }) => ending ?? 'held')])
  const looks = LOOKS.filter(([ending]) => endings.has(ending)).map(([ending, text]) => {
    const parts = [element('span', { class: 'sure' })]
    if (ending === 'unrecorded') parts.push(element('span', { class: 'tail' }))
    const bar = element('span', { class: 'bar', 'data-ending': ending }, ...parts)
    return element('li', {}, element('span', { class: 'look', 'aria-hidden': true }, bar), text)
  })
  const names = [...new Set(spans.map(whoOf))].sort()
  const holders = names.slice(0, MOST_NAMES).map((who) => {
    const swatch = element('span', { class: 'swatch', 'aria-hidden': true })
    return element('li', {}, paint(swatch, who), printable(who))
  })
  const more = names.length - holders.length
  if (more > 0) holders.push(element('li', {}, `and ${more} more`))
  return element(
    'div',
    { class: 'legend' },
    element('ul', { 'aria-label': 'How a hold ended' }, ...looks),
    element('ul', { 'aria-label': 'Holders' }, ...holders),
  )
}
