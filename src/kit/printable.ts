/** At most this many characters of foreign text are printed. */
const MOST = 100

/** Characters that can break a line, control a terminal or change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Foreign text for a message: escaped, and cut if it is long. */
export function printable(text: string): string {
  return escaped(cutTo(text, MOST).replaceAll('\\', '\\\\'))
}

/**
 * As `printable`, cut to `most` characters. Backslashes stay, so that escaped text is not escaped
 * again.
 */
export function oneLine(text: string, most: number): string {
  return escaped(cutTo(text, most))
}

/** The first characters of a text. If there are more, the last is an ellipsis. */
export function cutTo(text: string, most: number): string {
  if (text.length <= most) return text
  const characters = Array.from(text.slice(0, 2 * most))
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}

/** A time for messages, in milliseconds, seconds or minutes. */
export function printedMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`
}

function escaped(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`)
}
