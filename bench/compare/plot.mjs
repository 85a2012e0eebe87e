// Draws plots as SVG, for light and dark backgrounds.
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 14px; font-weight: 600 }
  .faint { fill: #6e7781 }
  .ours { fill: #0969da } .floor { fill: #8c959f } .other { fill: #b6bec7 }
  line, polyline { fill: none; stroke: #8c959f; stroke-width: 1 }
  polyline { stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .faint { fill: #8d96a0 }
    .ours { fill: #4493f8 } .floor { fill: #7d8590 } .other { fill: #484f58 }
  }`

const WIDTH = 760
const LABELS = 250
const VALUES = 70
const ROW = 22
const COLOURS = ['#8c959f', '#0969da', '#1a7f37', '#bf8700', '#8250df', '#cf222e', '#bf3989']

const escaped = (text) =>
  String(text).replace(/[<>&]/g, (char) => ({ '<': '&lt;', '>': '&gt;', '&': '&amp;' })[char])

function picture(title, height, body) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title).replaceAll('"', '&quot;')}">`,
    `<style>${STYLE}\n</style>`,
    `<text class="title" x="8" y="20">${escaped(title)}</text>`,
    ...body,
    '</svg>',
    '',
  ].join('\n')
}

/** One bar for each entry, from 0. */
export function barPlot({ title, bars, digits = 2 }) {
  const shown = bars.filter(({ value }) => Number.isFinite(value))
  const most = Math.max(...shown.map(({ value }) => value))
  const long = WIDTH - LABELS - VALUES
  const body = shown.flatMap(({ label, value, isFloor }, i) => {
    const y = 36 + i * ROW
    const kind = isFloor ? 'floor' : label.startsWith('Holdfast') ? 'ours' : 'other'
    const width = most > 0 ? (value / most) * long : 0
    const words = value.toLocaleString('en', {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    })
    return [
      `<text x="${LABELS - 8}" y="${y + 12}" text-anchor="end">${escaped(label)}</text>`,
      `<rect class="${kind}" x="${LABELS}" y="${y}" width="${width.toFixed(1)}" height="15" rx="2"/>`,
      `<text class="faint" x="${(LABELS + width + 6).toFixed(1)}" y="${y + 12}">${words}</text>`,
    ]
  })
  return picture(title, 44 + shown.length * ROW, body)
}

const AXES = { left: 60, right: WIDTH - 210, top: 40, bottom: 300 }

/** One line for each entry, through its points. The x axis is logarithmic. */
export function linePlot({ title, x, y, lines }) {
  const points = lines.flatMap((line) => line.points)
  const [from, to] = [Math.min, Math.max].map((pick) =>
    Math.log10(pick(...points.map(([at]) => at))),
  )
  const most = Math.max(...points.map(([, value]) => value))
  const { left, right, top, bottom } = AXES
  const atX = (value) => left + ((Math.log10(value) - from) / (to - from || 1)) * (right - left)
  const atY = (value) => bottom - (value / most) * (bottom - top)
  const ticks = []
  for (let power = Math.ceil(from - 1e-9); power <= to + 1e-9; power += 1) {
    const at = atX(10 ** power).toFixed(1)
    ticks.push(`<line x1="${at}" y1="${bottom}" x2="${at}" y2="${bottom + 4}"/>`)
    ticks.push(
      `<text class="faint" x="${at}" y="${bottom + 18}" text-anchor="middle">${(10 ** power).toLocaleString('en')}</text>`,
    )
  }
  for (const share of [0, 0.5, 1]) {
    const at = atY(most * share)
    const words = (most * share).toLocaleString('en', { maximumSignificantDigits: 3 })
    ticks.push(
      `<text class="faint" x="${left - 6}" y="${at + 4}" text-anchor="end">${words}</text>`,
    )
  }
  const curves = lines.flatMap((line, i) => {
    const colour = COLOURS[i % COLOURS.length]
    const path = line.points.map(([a, b]) => `${atX(a).toFixed(1)},${atY(b).toFixed(1)}`).join(' ')
    return [
      `<polyline points="${path}" style="stroke: ${colour}"/>`,
      `<rect x="${right + 12}" y="${top + i * 20}" width="12" height="12" style="fill: ${colour}"/>`,
      `<text x="${right + 30}" y="${top + 11 + i * 20}">${escaped(line.label)}</text>`,
    ]
  })
  return picture(title, 350, [
    `<line x1="${left}" y1="${bottom}" x2="${right}" y2="${bottom}"/>`,
    `<line x1="${left}" y1="${top}" x2="${left}" y2="${bottom}"/>`,
    ...ticks,
    `<text class="faint" x="${(left + right) / 2}" y="${bottom + 38}" text-anchor="middle">${escaped(x)}</text>`,
    `<text class="faint" x="${left}" y="${top - 6}">${escaped(y)}</text>`,
    ...curves,
  ])
}
