/**
 * Returns a text without its last full stop. So a message of another program fits into a sentence.
 */
export function withoutFullStop(text: string): string {
  return text.replace(/\.$/, '')
}
