// The parts of SVG that the plot needs.

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (words) => String(words).replace(/[&<>"]/g, (one) => entities[one])
const short = (number) => Number(number.toFixed(1))

export function text(x, y, words, name = '') {
  return `<text x="${short(x)}" y="${short(y)}" class="${name}">${escaped(words)}</text>`
}

/** @param title the text that a viewer shows beside the pointer */
export function rect(x, y, width, height, name, title) {
  const more = title === undefined ? '/>' : `><title>${escaped(title)}</title></rect>`
  const size = `width="${short(Math.max(1, width))}" height="${short(height)}"`
  return `<rect class="${name}" x="${short(x)}" y="${short(y)}" ${size}${more}`
}

/** Many bars of one kind: `[x, y, width, height]` of each. */
export function bars(all, name) {
  if (all.length === 0) return []
  const d = all.map(([x, y, width, height]) => {
    const wide = short(Math.max(0.7, width))
    return `M${short(x)},${short(y)}h${wide}v${height}h-${wide}z`
  })
  return [`<path class="${name}" d="${d.join('')}"/>`]
}

const LIGHT = {
  ...{ ground: '#ffffff', ink: '#1d2329', soft: '#68727d', line: '#dfe4e9', row: '#f4f6f8' },
  ...{ off: '#8d97a2', bad: '#d3122c', taken: '#c77700' },
  clients: ['#3b72b0', '#e08214', '#2a9d6a', '#9b59b6', '#1fa3b8', '#8a7a2c'],
}
const DARK = {
  ...{ ground: '#14181c', ink: '#e4e8ec', soft: '#98a2ad', line: '#2c343b', row: '#1c2227' },
  ...{ off: '#7f8994', bad: '#ff5a6a', taken: '#e8a33d' },
  clients: ['#6ea3de', '#f0a04b', '#55c795', '#c08ad8', '#57c7d9', '#c4b35f'],
}

// Some viewers of SVG do not support CSS variables.
const coloursOf = ({ ground, ink, soft, line, row, off, bad, taken, clients }) => `
text { fill: ${ink} } .small { fill: ${soft} } .bad { fill: ${bad} } .ground { fill: ${ground} }
.row { fill: ${row} } .grid { stroke: ${line} } .waiting, .fault, .shade { fill: ${off} }
.out { fill: ${clients[2]} } .mark { fill: ${ink} } .limit { stroke: ${soft} }
.found { fill: ${bad}; stroke: ${bad} } .hatch { stroke: ${taken} }
${clients.map((colour, i) => `.c${i} { fill: ${colour} } .l${i} { stroke: ${colour} }`).join(' ')}`

const STYLE = `<style>
text { font: 12px ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif }
.head { font-size: 16px; font-weight: 600 } .small { font-size: 11px } .tiny { font-size: 9.5px }
.name { font-weight: 600; text-anchor: end } .end { text-anchor: end } .middle { text-anchor: middle }
.had { opacity: 0.4 } .faint { opacity: 0.3 } .waiting { opacity: 0.5 } .fault { opacity: 0.45 }
.reads { opacity: 0.6 } .out { opacity: 0.6 } .limit { fill: none; stroke-dasharray: 4 3 }
.line { fill: none; stroke-width: 1.3 } .shade { opacity: 0.12 } .taken { fill: url(#taken) } .grid { fill: none }
.found { fill-opacity: 0.15; stroke-width: 1.5 } .bad { font-weight: 600 }
.hatch { stroke-width: 2; stroke-opacity: 0.5 }${coloursOf(LIGHT)}
@media (prefers-color-scheme: dark) {${coloursOf(DARK)}
}
</style>
<defs><pattern id="taken" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<path class="hatch" d="M0,0V6"/></pattern></defs>`

export function picture(width, height, title, parts) {
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
  const ground = `<rect class="ground" width="${width}" height="${height}"/>`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>\n<title>${escaped(title)}</title>\n${STYLE}\n${ground}\n${parts.join('\n')}\n</svg>`
}
