/** This many characters of a text by others are printed. */
const MOST = 100

/** What could break a line, steer a terminal or turn the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** A text that others have written, as a message has it: escaped, and cut if it is long. */
export function printable(text: string): string {
  return escaped(cutTo(text, MOST).replaceAll('\\', '\\\\'))
}

/** The same, cut to so many characters. What was escaped before is not escaped again. */
export function oneLine(text: string, most: number): string {
  return escaped(cutTo(text, most))
}

/** The first characters of a text, with an ellipsis as the last one if there are more. */
export function cutTo(text: string, most: number): string {
  if (text.length <= most) return text
  const characters = Array.from(text.slice(0, 2 * most))
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}

/** A time as people say it, in the largest unit that still tells times apart. */
export function printedMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`
}

function escaped(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`)
}
