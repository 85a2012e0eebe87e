/** This many characters of a text by others are printed. */
const MOST = 100

/** What could break a line, steer a terminal or turn the direction of text; and what says what was escaped. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\\]/gu

/** A text that others have written, as a message has it: escaped, and cut if it is long. */
export function printable(text: string): string {
  return cutTo(text, MOST).replace(UNPRINTABLE, (char) => {
    if (char === '\\') return '\\\\'
    return `\\u{${(char.codePointAt(0) as number).toString(16)}}`
  })
}

/** The first characters of a text, with an ellipsis as the last one if there are more. */
export function cutTo(text: string, most: number): string {
  if (text.length <= most) return text
  const characters = Array.from(text.slice(0, 2 * most))
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}
