/** Returns a text without its last full stop, so that the text fits into a sentence. */
export function withoutFullStop(text: string): string {
  return text.replace(/\.$/, '')
}
