// Draws the holds as letters of workers: one row for each account, one column for each slice of time.
import { colorOf, dim, red, width } from './screen.mjs'

const LABEL = 8

/** @typedef {{ worker: string, account: string, granted: number, ended: number, dead?: boolean }} Hold */

/**
 * @param {Hold[]} holds times in milliseconds
 * @param {{ accounts: string[], from: number, until?: number, columnMs?: number, mark?: { at: number, text: string } }} view
 * @returns {string[]} lines
 */
export function timeline(holds, { accounts, from, until, columnMs, mark }) {
  const columns = Math.max(width() - LABEL - 2, 20)
  const sliceMs = columnMs ?? (until - from) / columns
  const end = from + columns * sliceMs
  const rows = accounts.map((account) => {
    const visible = holds.filter(
      (hold) => hold.account === account && hold.ended > from && hold.granted < end,
    )
    const cells = Array.from({ length: columns }, (_, column) => {
      const start = from + column * sliceMs
      return cell(visible, start, start + sliceMs)
    })
    return `${account.padEnd(LABEL)}${cells.join('')}`
  })
  const lines = [axis(columns, from, sliceMs), ...rows]
  if (mark) lines.push(markLine(mark, Math.floor((mark.at - from) / sliceMs), columns))
  return lines
}

/** The letter of the worker that held the lock longest in this slice. A digit if several workers held it at once. */
function cell(holds, start, end) {
  const present = holds.filter((hold) => hold.granted < end && hold.ended > start)
  if (present.length === 0) return dim('·')
  const together = mostAtOnce(present, start, end)
  if (together > 1) return red(Math.min(together, 9))
  const shares = new Map()
  for (const hold of present) {
    const key = hold.dead ? 'x' : hold.worker
    const shareMs = Math.min(hold.ended, end) - Math.max(hold.granted, start)
    shares.set(key, (shares.get(key) ?? 0) + shareMs)
  }
  const [[longest]] = [...shares].sort(([, a], [, b]) => b - a)
  return longest === 'x' ? red('x') : colorOf(longest)(longest)
}

function mostAtOnce(holds, start, end) {
  const moments = [start, ...holds.map((hold) => hold.granted)]
  const countAt = (at) => holds.filter((hold) => hold.granted <= at && at < hold.ended).length
  return Math.max(...moments.filter((at) => at >= start && at < end).map(countAt))
}

function axis(columns, from, sliceMs) {
  let line = ''
  for (let column = 0; column < columns; ) {
    const ms = from + column * sliceMs
    const label = sliceMs < 5 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
    if (column + label.length + 1 > columns) break
    line += `|${label}`.padEnd(15)
    column += 15
  }
  return dim(' '.repeat(LABEL) + line.trimEnd())
}

function markLine({ text }, column, columns) {
  if (column < 0 || column >= columns) return ''
  const isRight = column + text.length + 2 > columns
  const line = isRight ? `${text} ^`.padStart(column + 1) : `${' '.repeat(column)}^ ${text}`
  return red(' '.repeat(LABEL) + line)
}
