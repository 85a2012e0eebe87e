// Draws a timeline of the spans of a real run of two processes, and the link from the waiter to the holder.
// `npm run build`, then `node examples/tracing/draw.mjs docs/how-to/trace-a-slow-lock.svg`.
import { writeFileSync } from 'node:fs'
import { startServer } from '../../bench/support/support.mjs'
import { runBoth } from './run.mjs'

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 14px; font-weight: 600 }
  .faint { fill: #6e7781 }
  .ours { fill: #0969da } .other { fill: #b6bec7 }
  line { stroke: #d0d7de; stroke-width: 1 }
  .link { fill: none; stroke: #cf222e; stroke-width: 1.5; stroke-dasharray: 4 3 }
  .tip { fill: #cf222e }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .faint { fill: #8d96a0 }
    .ours { fill: #4493f8 } .other { fill: #484f58 }
    line { stroke: #30363d }
    .link { stroke: #f85149 } .tip { fill: #f85149 }
  }`
const WIDTH = 760
const LEFT = 190
const RIGHT = WIDTH - 70
const ROW = 22
const TITLES = {
  report: 'process 1, trace of GET /report',
  order: 'process 2, trace of POST /orders',
}

const server = await startServer()
const spans = await runBoth(server.url)
await server.stop()

const link = spans
  .flatMap((from) => from.links.map((one) => ({ from, ...one })))
  .find((one) => one['holdfast.link'] === 'holder')
if (link === undefined) throw new Error('no span is linked to that of the holder')

const begin = Math.min(...spans.map(({ startMs }) => startMs))
const end = Math.max(...spans.map(({ endMs }) => endMs))
const x = (ms) => LEFT + ((ms - begin) / (end - begin)) * (RIGHT - LEFT)

/** A span and all spans below it, in the order in which they began. */
function tree(process, parent, depth = 0) {
  return spans
    .filter((span) => span.process === process && span.parent === parent)
    .sort((a, b) => a.startMs - b.startMs || b.endMs - a.endMs)
    .flatMap((span) => [{ ...span, depth }, ...tree(process, span.spanId, depth + 1)])
}

const body = []
const rows = new Map()
let y = 44
for (const [process, title] of Object.entries(TITLES)) {
  body.push(`<text class="faint" x="8" y="${y + 12}">${title}</text>`)
  y += ROW
  for (const span of tree(process)) {
    const [from, to] = [x(span.startMs), x(span.endMs)]
    const kind = span.name.startsWith('holdfast.') ? 'ours' : 'other'
    const width = Math.max(to - from, 1.5).toFixed(1)
    body.push(
      `<text x="${16 + span.depth * 12}" y="${y + 12}">${span.name}</text>`,
      `<rect class="${kind}" x="${from.toFixed(1)}" y="${y + 1}" width="${width}" height="14" rx="2"/>`,
      `<text class="faint" x="${(to + 6).toFixed(1)}" y="${y + 12}">${Math.round(span.endMs - span.startMs)} ms</text>`,
    )
    rows.set(span.spanId, { y, from, to })
    y += ROW
  }
  y += 8
}

const waiter = rows.get(link.from.spanId)
const holder = rows.get(link.to)
const at = (waiter.from + waiter.to) / 2
body.push(
  `<path class="link" d="M${at.toFixed(1)} ${waiter.y} V${holder.y + 19}"/>`,
  `<path class="tip" d="M${at.toFixed(1)} ${holder.y + 15} l-4 7 h8 z"/>`,
  `<text x="${(at + 8).toFixed(1)}" y="${waiter.y - 10}">link: it waits for this hold</text>`,
)
const lines = []
for (let ms = 0; ms <= end - begin; ms += 200) {
  const at = x(begin + ms).toFixed(1)
  lines.push(
    `<line x1="${at}" x2="${at}" y1="44" y2="${y}"/>`,
    `<text class="faint" x="${at}" y="${y + 16}" text-anchor="middle">${ms} ms</text>`,
  )
}

const title = 'A slow request waits for a lock, and its span leads to the one that holds it'
const picture = [
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 26}" role="img" aria-label="${title}">`,
  `<style>${STYLE}\n</style>`,
  `<text class="title" x="8" y="20">${title}</text>`,
  ...lines,
  ...body,
  '</svg>',
  '',
].join('\n')
writeFileSync(process.argv[2] ?? '/dev/stdout', picture)
