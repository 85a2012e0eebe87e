/** The largest number of characters that `printable` keeps. */
const MOST = 100

/** Characters that can break a line, control a terminal or change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Returns text from outside Holdfast in a form that is safe in a message. Special characters are
 * escaped, and long text is cut.
 */
export function printable(text: string): string {
  return escaped(cutTo(text, MOST).replaceAll('\\', '\\\\'))
}

/**
 * Like `printable`, but keeps at most `most` characters, and does not escape backslashes. So text
 * that is escaped already stays unchanged.
 */
export function oneLine(text: string, most: number): string {
  return escaped(cutTo(text, most))
}

/**
 * Returns at most the first `most` characters of a text. If the text was longer, the last character
 * is an ellipsis.
 */
export function cutTo(text: string, most: number): string {
  if (text.length <= most) return text
  const characters = Array.from(text.slice(0, 2 * most))
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}

/** Returns a duration as words for a message: in milliseconds, seconds or minutes. */
export function printedMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`
}

function escaped(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`)
}
