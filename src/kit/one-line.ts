/** Text of others on one line of a log: cut to so many characters, with escapes for what would steer a terminal. */
export function oneLine(text: string, most: number): string {
  const chars = [...text]
  const cut = chars.length > most ? [...chars.slice(0, most - 1), '…'] : chars
  return cut.join('').replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (char) => {
    return `\\u{${(char.codePointAt(0) as number).toString(16)}}`
  })
}
