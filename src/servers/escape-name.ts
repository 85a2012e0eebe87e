import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'

/**
 * The characters that `escapeName` replaces. Braces make a `{tag}`, `:` separates the parts of a
 * name, and `%` begins an escape. A complete surrogate pair does not match.
 */
const ESCAPED = /[\p{Cc}{}:%]|\p{Surrogate}/gu

/** The escaped form of an empty text. No other text has this form. */
const EMPTY = '%-'

/**
 * Escapes any text, so that the text is a valid part of a name: `order:${escapeName(id)}`.
 * Different texts have different escaped forms. So names of several escaped parts also differ, if
 * `:` separates the parts.
 *
 * Only braces, `:`, `%`, control characters and unpaired surrogates change. An empty text becomes
 * `%-`.
 *
 * @throws `InvalidArgumentError` if the value is not a string
 */
export function escapeName(text: string): string {
  if (typeof text !== 'string') {
    throw new InvalidArgumentError(`escapeName(text) takes a string; got ${show(text)}.`)
  }
  return text === '' ? EMPTY : text.replace(ESCAPED, escaped)
}

/** Returns `%3A` for `:`. A code unit above 255 has four digits, such as `%uD83D`. */
function escaped(character: string): string {
  const hex = character.charCodeAt(0).toString(16).toUpperCase()
  return hex.length > 2 ? `%u${hex}` : `%${hex.padStart(2, '0')}`
}
