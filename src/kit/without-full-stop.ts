/** Removes the full stop at the end, so that a message of another program fits into a sentence. */
export function withoutFullStop(text: string): string {
  return text.replace(/\.$/, '')
}
