import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'

/**
 * The characters that are escaped. Braces make a `{tag}`, `:` separates the parts of a name, and
 * `%` begins an escape. Control characters and unpaired surrogates are escaped too. Complete
 * surrogate pairs stay.
 */
const ESCAPED = /[\p{Cc}{}:%]|\p{Surrogate}/gu

/** The result for an empty text. No other text has this result. */
const EMPTY = '%-'

/**
 * Escapes any text so that it is a valid part of a name, in any position:
 * `order:${escapeName(id)}`. Different texts become different parts, even between parts that `:`
 * separates. Ordinary ids stay as they are. Only braces, `:`, `%`, control characters and unpaired
 * surrogates are escaped. An empty text becomes `%-`.
 *
 * @throws `InvalidArgumentError` if the value is not a string
 */
export function escapeName(text: string): string {
  if (typeof text !== 'string') {
    throw new InvalidArgumentError(`escapeName(text) takes a string; got ${show(text)}.`)
  }
  return text === '' ? EMPTY : text.replace(ESCAPED, escaped)
}

/** Returns `%3A` for `:`, and `%uD83D` for a code unit above 255. */
function escaped(character: string): string {
  const hex = character.charCodeAt(0).toString(16).toUpperCase()
  return hex.length > 2 ? `%u${hex}` : `%${hex.padStart(2, '0')}`
}
