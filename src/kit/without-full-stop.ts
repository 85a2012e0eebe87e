/** For a message of another program that continues within a sentence. */
export function withoutFullStop(text: string): string {
  return text.replace(/\.$/, '')
}
