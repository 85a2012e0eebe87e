/** The largest number of characters of foreign text in a message. */
const MOST = 100

/** Characters that can break a line, control a terminal or change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Returns foreign text for a message: with escaped special characters, and shortened if it is long.
 */
export function printable(text: string): string {
  return escaped(cutTo(text, MOST).replaceAll('\\', '\\\\'))
}

/**
 * Like `printable`, but with at most `most` characters. Backslashes are not escaped, so that
 * escaped text is not escaped again.
 */
export function oneLine(text: string, most: number): string {
  return escaped(cutTo(text, most))
}

/**
 * Returns the first characters of a text. If characters are left out, the last character is an
 * ellipsis.
 */
export function cutTo(text: string, most: number): string {
  if (text.length <= most) return text
  const characters = Array.from(text.slice(0, 2 * most))
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}

/** Returns a time as text for messages, in milliseconds, seconds or minutes. */
export function printedMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`
}

function escaped(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`)
}
