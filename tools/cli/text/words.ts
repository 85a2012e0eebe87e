/**
 * Escapes characters that would control the terminal. Text of other users, such as a lock name, may
 * contain such characters.
 */
export function escaped(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\]/gu, (char) => {
    if (char === '\\') return '\\\\'
    if (char === '\n') return '\\n'
    const code = char.codePointAt(0) as number
    return code < 256 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`
  })
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')

/** Formats a duration: 750 is `750 ms`, 61,000 is `61 s`, 7,260,000 is `2 h 1 min`. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** Formats a number with its noun: `1 lock`, `2 locks`, `1,000 locks`. */
export const counted = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : nouns}`

/**
 * Wraps a text to lines of at most `width` characters, unless a word is longer. A number stays with
 * its unit.
 */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/(?<!\d)\s+|\s+(?!(?:ms|s|min|h|d)\b)/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}
