// What is written: lines, and in a terminal one more that is drawn anew in its place.

const { stdout, env } = process
const isTerminal = stdout.isTTY === true && env.TERM !== 'dumb'
const hasColors = isTerminal && !env.NO_COLOR

const paint = (code) => (text) => (hasColors ? `\x1b[${code}m${text}\x1b[0m` : String(text))
export const bold = paint('1')
export const dim = paint('2')
export const red = paint('31')
export const green = paint('32')
/** One for each worker: its letter has the same colour wherever it is seen. */
const WORKER_COLORS = ['36', '33', '35', '34', '32', '96'].map(paint)
export const colorOf = (letter) => WORKER_COLORS[(letter.charCodeAt(0) - 65) % WORKER_COLORS.length]

/** Room for drawings. */
export const width = () => Math.min(stdout.columns ?? 100, 110)

const LINE_EVERY_MS = isTerminal ? 80 : 1_000
let progress = ''
let drawnAt = -Infinity

/** A line that stays. */
export function say(line = '') {
  stdout.write(isTerminal && progress ? `\r\x1b[2K${line}\n${progress}` : `${line}\n`)
}

/** The line that changes; where there is no terminal, a line of its own every second. */
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
  // Whatever fits in one line, the most important first: a longer one could not be drawn anew.
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
