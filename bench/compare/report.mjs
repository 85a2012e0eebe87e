// Writes the results to a folder: a page with tables, plots, and the numbers as JSON. The results of scenarios that
// did not run this time stay in the folder.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { barPlot, linePlot } from './plot.mjs'

const explanation = fileURLToPath(new URL('../../docs/explanation/benchmarks.md', import.meta.url))

/** The date, the command, the software and the machine of a measurement. */
export function surroundings({ server, command, redisson }) {
  const [cpu] = cpus()
  const date = new Date().toISOString().slice(0, 10)
  const software = [`${server.kind} ${server.version}`, `Node.js ${process.version}`]
  if (redisson) software.push(`Redisson ${redisson}`)
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const machine = `${cpus().length} × ${cpu?.model.trim()}, ${memory}, ${process.platform} ${process.arch}`
  return `${date}, \`${command}\`: ${software.join(', ')}; ${machine}.`
}

function markdownTable({ caption, columns, rows }) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  const rule = columns.map((_, i) => (i === 0 ? '---' : '---:'))
  return [
    ...(caption ? [`${caption}:`, ''] : []),
    line(columns),
    `|${rule.join('|')}|`,
    ...rows.map(line),
    '',
  ]
}

function section(where, { id, title, about, tables = [], plots = [], notes = [], skipped }) {
  const body = skipped
    ? [`Not measured: ${skipped}`, '']
    : [
        ...tables.flatMap(markdownTable),
        ...notes.flatMap((note) => [note, '']),
        ...plots.flatMap(({ name, title: alt }) => [`![${alt}](${name}.svg)`, '']),
      ]
  return [`## (${id}) ${title}`, '', about, '', where, '', ...body].join('\n').trimEnd()
}

/** @returns the path of the page */
export function writeReport(folder, where, results) {
  mkdirSync(folder, { recursive: true })
  for (const plot of results.flatMap(({ plots = [] }) => plots)) {
    const svg = plot.lines ? linePlot(plot) : barPlot(plot)
    writeFileSync(join(folder, `${plot.name}.svg`), svg)
  }
  const file = join(folder, 'results.json')
  const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
  const kept = before.filter(({ id }) => !results.some((result) => result.id === id))
  const now = results.map((result) => ({
    id: result.id,
    text: section(where, result),
    ratios: result.ratios ?? [],
  }))
  const all = [...kept, ...now].sort((a, b) => (a.id < b.id ? -1 : 1))
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`)
  const page = [
    '# Holdfast beside others',
    'The numbers are medians.\n' +
      `[Benchmarks](${relative(folder, explanation).split(sep).join('/')}) describes what each scenario measures and leaves out.`,
    ...all.map(({ text }) => text),
  ]
  const path = join(folder, 'results.md')
  writeFileSync(path, `${page.join('\n\n')}\n`)
  return path
}
