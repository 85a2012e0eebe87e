// Who held what: a lane for each lock, a bar for each hold, a colour for each holder.
import { drawn, element, printable } from './dom.js'
import { duration, plural, time, whoOf } from './format.js'

const HEIGHT = 28
const COLOURS = 8
const MOST_NAMES = 12

/** The same everywhere and always, by the name alone. */
export function colourOf(who) {
  let hash = 0
  for (const mark of who) hash = (hash * 31 + mark.codePointAt(0)) % 65_521
  return hash % COLOURS
}

/** @returns lanes for all locks that spans are of, in their order */
export function lanesOf({ spans, from, now }) {
  const byKey = Map.groupBy ? Map.groupBy(spans, ({ key }) => key) : grouped(spans)
  const lanes = [...byKey].map(([key, own]) =>
    element(
      'li',
      {},
      element('span', { class: 'key', title: key }, key),
      element(
        'div',
        {},
        element('span', { class: 'unseen' }, told(own, now)),
        laneOf(own, from, now),
      ),
    ),
  )
  return element('ul', { class: 'lanes' }, ...lanes)
}

function grouped(spans) {
  const byKey = new Map()
  for (const span of spans) byKey.set(span.key, [...(byKey.get(span.key) ?? []), span])
  return byKey
}

/** The same in words. */
function told(spans, now) {
  const last = spans.at(-1)
  const names = [...new Set(spans.map(whoOf))].slice(0, 5).join(', ')
  const state =
    last.to === null ? `held by ${whoOf(last)} for ${duration(now - last.from)}` : 'free'
  return `${plural(spans.length, 'hold')}, by ${names}; now ${state}`
}

export function laneOf(spans, from, now) {
  const whole = now - from
  const rows = []
  const placed = spans.map((span) => {
    const start = Math.max(span.from, from)
    // Those who have it at once, as readers do, are drawn one below the other.
    const free = rows.findIndex((end) => end <= start)
    const row = free === -1 ? rows.length : free
    rows[row] = span.to ?? now
    return { span, start, row }
  })
  const each = HEIGHT / Math.max(1, rows.length)
  const bars = placed.map(({ span, start, row }) => {
    const end = span.to ?? now
    const left = (100 * (start - from)) / whole
    const width = Math.max(0.15, (100 * (end - start)) / whole)
    const who = whoOf(span)
    const isCut = span.ending === 'lost' || span.ending === 'forced'
    const open = span.ending === 'untold' ? ', its end was not recorded' : ', still held'
    const ending = isCut ? `, ${span.ending}` : span.to === null ? open : ''
    return drawn(
      'svg',
      { x: `${left}%`, y: row * each + 2, width: `${width}%`, height: each - 4 },
      drawn('title', {}, `${who}: ${time(span.from)}, for ${duration(end - span.from)}${ending}`),
      drawn('rect', {
        class: `bar-${colourOf(who)}${span.ending === 'untold' ? ' untold' : ''}`,
        width: '100%',
        height: '100%',
        rx: 2,
      }),
      isCut
        ? drawn('rect', {
            class: 'cut',
            x: '100%',
            width: 6,
            height: '100%',
            transform: 'translate(-6)',
          })
        : null,
      each > 18 && width > 6 ? drawn('text', { class: 'bar-text', x: 6, y: 16 }, who) : null,
    )
  })
  return drawn('svg', { 'aria-hidden': 'true', height: HEIGHT }, ...bars)
}

export function axisOf({ from, now }) {
  const marks = [0, 0.25, 0.5, 0.75, 1].map((part) =>
    element('span', {}, time(from + part * (now - from))),
  )
  return element(
    'div',
    { class: 'axis', 'aria-hidden': 'true' },
    element('span', {}),
    element('span', {}, ...marks),
  )
}

export function legendOf({ spans }) {
  const names = [...new Set(spans.map(whoOf))].sort()
  const shown = names
    .slice(0, MOST_NAMES)
    .map((who) =>
      element(
        'li',
        {},
        drawn(
          'svg',
          { 'aria-hidden': 'true' },
          drawn('rect', { class: `bar-${colourOf(who)}`, width: 10, height: 10, rx: 2 }),
        ),
        printable(who),
      ),
    )
  const more = names.length - shown.length
  if (more > 0) shown.push(element('li', {}, `and ${more} more`))
  return element('ul', { class: 'legend', 'aria-label': 'Holders' }, ...shown)
}
