/**
 * Quotes a text as one word for bash, zsh and ksh, on one line. Writes invisible characters as C
 * escapes. A word that begins with `-` is safe only after `--`.
 */
export function shellWord(text: string): string {
  if (/^[\w:./@%+=,-]+$/.test(text)) return text
  if (!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`
  let [word, wasEscaped] = ['', false]
  for (const byte of Buffer.from(text)) {
    const char = String.fromCharCode(byte)
    const isPlain = /[\w:./@-]/.test(char)
    // The shell would read a hex digit after an escape as a part of the escape. So a new quotation
    // begins before the digit.
    if (isPlain && wasEscaped && /[0-9a-fA-F]/.test(char)) word += "'$'"
    word += isPlain ? char : `\\x${byte.toString(16).padStart(2, '0')}`
    wasEscaped = !isPlain
  }
  return `$'${word}'`
}
