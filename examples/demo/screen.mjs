// Writes lines. In a terminal, it also draws a progress line, and redraws this line in its place.

const { stdout, env } = process
const isTerminal = stdout.isTTY === true && env.TERM !== 'dumb'
const hasColors = isTerminal && !env.NO_COLOR

const paint = (code) => (text) => (hasColors ? `\x1b[${code}m${text}\x1b[0m` : String(text))
export const bold = paint('1')
export const dim = paint('2')
export const red = paint('31')
export const green = paint('32')
/** One colour for each worker, for all places in which its letter appears. */
const WORKER_COLORS = ['36', '33', '35', '34', '32', '96'].map(paint)
export const colorOf = (letter) => WORKER_COLORS[(letter.charCodeAt(0) - 65) % WORKER_COLORS.length]

/** The width of drawings, in characters. */
export const width = () => Math.min(stdout.columns ?? 100, 110)

const LINE_EVERY_MS = isTerminal ? 80 : 1_000
let progress = ''
let drawnAt = -Infinity

/** Writes a line above the progress line. */
export function say(line = '') {
  stdout.write(isTerminal && progress ? `\r\x1b[2K${line}\n${progress}` : `${line}\n`)
}

/** Redraws the progress line. Without a terminal, it writes a new line every second. */
export function showProgress({ done, total, perSecond, workers }) {
  if (performance.now() - drawnAt < LINE_EVERY_MS || (done === 0 && !isTerminal)) return
  drawnAt = performance.now()
  const count = `${amount(done)} of ${amount(total)} orders`
  const rate = `${amount(perSecond)}/s`
  if (!isTerminal) {
    const shares = workers.map(({ letter, orders }) => `${letter} ${orders}`)
    say(`  ${count}, ${rate} (${shares.join(', ')})`)
    return
  }
  // The most important parts come first, as many as fit in one line. A wrapped line could not be redrawn.
  let room = width() - 1
  const parts = []
  const add = (text, shown = text) => {
    if (text.length + 2 > room) return
    room -= text.length + 2
    parts.push(shown)
  }
  add(count)
  add(rate)
  for (const { letter, orders, killed } of workers) {
    const text = `${letter} ${orders}`
    add(text, killed ? red(text) : colorOf(letter)(text))
  }
  if (room > 12) parts.unshift(bar(done / total, Math.min(room - 2, 30)))
  progress = parts.join('  ')
  stdout.write(`\r\x1b[2K${progress}`)
}

export function endProgress() {
  if (progress) stdout.write('\r\x1b[2K')
  progress = ''
}

function bar(share, length) {
  const full = Math.round(share * length)
  return `${green('█'.repeat(full))}${dim('░'.repeat(length - full))}`
}

// --- Numbers ---

export const amount = (number) => Math.round(number).toLocaleString('en-US')

export function money(cents) {
  const sign = cents < 0 ? '-' : ''
  const [whole, rest] = [Math.floor(Math.abs(cents) / 100), Math.abs(cents) % 100]
  return `${sign}${amount(whole)}.${String(rest).padStart(2, '0')}`
}

export function duration(ms) {
  if (ms < 10) return `${ms.toFixed(1)} ms`
  return ms < 10_000 ? `${amount(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}
