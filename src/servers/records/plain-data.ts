/** True if an object of plain data has no properties. */
export function isEmpty(data: object): boolean {
  for (const _ in data) return false
  return true
}

export function sizeOf(data: object): number {
  return Object.keys(data).length
}
