// Writes what was measured to a folder: a page with tables, plots, and the figures as JSON.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { barPlot, linePlot } from './plot.mjs'

/** Where it was measured, and with what. */
export function surroundings({ server, command, redisson }) {
  const [cpu] = cpus()
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}`,
    node: process.version,
    server: `${server.kind} ${server.version}`,
    redisson: redisson ? `Redisson ${redisson}` : 'without Java',
    command,
  }
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

function section({ id, title, about, tables = [], plots = [], notes = [], skipped }) {
  const body = skipped
    ? [`Not measured: ${skipped}`, '']
    : [
        ...tables.flatMap(markdownTable),
        ...notes.flatMap((note) => [note, '']),
        ...plots.flatMap(({ name, title: alt }) => [`![${alt}](${name}.svg)`, '']),
      ]
  return [`## (${id}) ${title}`, '', about, '', ...body]
}

/** @returns the path of the page */
export function writeReport(folder, where, results) {
  mkdirSync(folder, { recursive: true })
  for (const plot of results.flatMap(({ plots = [] }) => plots)) {
    const svg = plot.lines ? linePlot(plot) : barPlot(plot)
    writeFileSync(join(folder, `${plot.name}.svg`), svg)
  }
  const page = [
    '# Holdfast beside others',
    '',
    `Measured on ${where.date} with \`${where.command}\`:`,
    `${where.server}, Node.js ${where.node}, ${where.redisson};`,
    `${where.machine}.`,
    '',
    'The figures are medians. What each scenario measures, and what it leaves out, is in',
    '[Benchmarks](../../docs/explanation/benchmarks.md).',
    '',
    ...results.flatMap(section),
  ]
  const path = join(folder, 'results.md')
  writeFileSync(path, `${page.join('\n').trimEnd()}\n`)
  const figures = results.map(({ id, title, ratios, skipped }) => ({ id, title, ratios, skipped }))
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify({ where, figures }, null, 2)}\n`)
  return path
}
