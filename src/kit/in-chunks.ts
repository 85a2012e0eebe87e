/**
 * Splits the items, in their order, into chunks. The sizes of the items in a chunk add up to at
 * most `most`. An item that is larger than `most` is alone in its chunk.
 */
export function inChunks<T>(items: readonly T[], sizeOf: (item: T) => number, most: number): T[][] {
  const chunks: T[][] = []
  let remaining = 0
  for (const item of items) {
    const size = sizeOf(item)
    if (chunks.length === 0 || size > remaining) {
      chunks.push([])
      remaining = most
    }
    chunks.at(-1)?.push(item)
    remaining -= size
  }
  return chunks
}
