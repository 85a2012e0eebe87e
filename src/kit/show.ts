/** Returns a value as error messages show it, without the content of objects. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'object' && value !== null) return `an object (${value.constructor?.name})`
  return typeof value === 'function' ? 'a function' : String(value)
}
