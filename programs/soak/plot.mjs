// Draws a run as a picture. Time runs from left to right, the faults are on top, and each measure has a panel.
import { picture, rect, text } from '../chaos/plot/svg.mjs'

const [WIDTH, LEFT, RIGHT] = [900, 70, 880]
const [TOP, PANEL, GAP] = [96, 74, 34]

export function plot(result, { series, isGood }) {
  const { options, faults, samples } = result
  const lastAt = samples.at(-1).at
  const x = (at) => LEFT + (at / lastAt) * (RIGHT - LEFT)
  const services = samples[0].services.map((_, i) => [`c${i}`, `service ${i + 1}`])
  const parts = [
    text(
      LEFT,
      24,
      `${(lastAt / 3_600).toFixed(1)} hours of work with faults, seed ${options.seed}`,
      'head',
    ),
    text(LEFT, 44, isGood ? 'nothing grew' : 'something grew: see below', isGood ? '' : 'bad'),
    ...services.flatMap(([name, words], i) => [
      rect(RIGHT - 90 * (services.length - i), 36, 14, 10, name),
      text(RIGHT - 90 * (services.length - i) + 20, 45, words, 'small'),
    ]),
    text(LEFT - 8, 70, 'faults', 'small end'),
    ...faults.map(({ what, where, from, to }) => {
      const name = where === 'server' ? 'fault' : `c${Number(where.slice(-1)) - 1} faint`
      return rect(x(from), 60, x(to) - x(from), 12, name, `${what}, ${where}`)
    }),
  ]
  let top = TOP
  for (const [measure, lines] of grouped(series)) {
    parts.push(...panel(measure, lines, { x, top }))
    top += PANEL + GAP
  }
  return picture(WIDTH, top + 10, 'A long run with faults', [
    ...parts,
    ...axis(lastAt, x, top - GAP + 18),
  ])
}

function panel(measure, lines, { x, top }) {
  const values = lines.flatMap(({ line }) => line.map(([, value]) => value)).filter(Number.isFinite)
  const most = Math.max(...values, 1e-9) * 1.1
  const y = (value) => top + PANEL - (value / most) * PANEL
  const { unit } = lines[0]
  return [
    text(LEFT, top - 6, unit === '' ? measure : `${measure}, ${unit}`, 'small'),
    rect(LEFT, top, RIGHT - LEFT, PANEL, 'row'),
    text(LEFT - 8, top + PANEL, '0', 'small end'),
    text(LEFT - 8, top + 10, short(most), 'small end'),
    text(RIGHT, top - 6, said(lines), lines.some(({ grew }) => grew) ? 'bad end' : 'small end'),
    ...lines.map(({ line }, i) => `<path class="line l${i}" d="${pathOf(line, x, y)}"/>`),
  ]
}

/** The medians of the first and the last quarter. */
const said = (lines) =>
  lines.map(({ first, last }) => `${short(first)} → ${short(last)}`).join(', ')

function pathOf(line, x, y) {
  let isDown = false
  return line
    .map(([at, value]) => {
      if (!Number.isFinite(value)) return ''
      const step = `${isDown ? 'L' : 'M'}${x(at).toFixed(1)},${y(value).toFixed(1)}`
      isDown = true
      return step
    })
    .join('')
}

function axis(lastAt, x, y) {
  const stepMinutes = [1, 5, 10, 30, 60].find((minutes) => lastAt / 60 / minutes <= 10) ?? 60
  const parts = []
  for (let at = 0; at <= lastAt; at += stepMinutes * 60) {
    parts.push(text(x(at), y, `${at / 60} min`, 'small middle'))
  }
  return parts
}

function grouped(series) {
  const groups = new Map()
  for (const one of series) groups.set(one.measure, [...(groups.get(one.measure) ?? []), one])
  return groups
}

const short = (value) => `${Number(value.toPrecision(3))}`
