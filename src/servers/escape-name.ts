import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'

/**
 * The characters that are escaped. Braces make a `{tag}`, `:` separates the parts of a name, and
 * `%` escapes. Control characters and halves of surrogate pairs are escaped too.
 */
const ESCAPED = /[\p{Cc}{}:%]|\p{Surrogate}/gu

/** The escape of the empty text. No other text has it. */
const EMPTY = '%-'

/**
 * Escapes any text so that it is a valid part of a name, in any position:
 * `order:${escapeName(id)}`. Different texts become different parts, even between parts that `:`
 * separates. Ordinary ids stay as they are. It escapes only braces, `:`, `%`, control characters
 * and halves of surrogate pairs. An empty text becomes `%-`.
 *
 * @throws `InvalidArgumentError` if the value is not a string
 */
export function escapeName(text: string): string {
  if (typeof text !== 'string') {
    throw new InvalidArgumentError(`escapeName(text) takes a string; got ${show(text)}.`)
  }
  return text === '' ? EMPTY : text.replace(ESCAPED, escaped)
}

/** `%3A`, or `%uD83D` for a character above one byte. */
function escaped(character: string): string {
  const hex = character.charCodeAt(0).toString(16).toUpperCase()
  return hex.length > 2 ? `%u${hex}` : `%${hex.padStart(2, '0')}`
}
