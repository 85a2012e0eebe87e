import { inspect } from 'node:util'

/**
 * Formats a value for an error message. Objects and URLs may contain a password, so their content
 * is hidden.
 */
export function shown(value: unknown): string {
  if (typeof value === 'string') {
    return inspect(value.replace(/^([a-z]*:\/\/)?.*@/s, '$1***@').replace(/([?=]).*$/s, '$1***'))
  }
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'function' ? 'a function' : String(value)
  }
  return Array.isArray(value) ? 'a list' : 'an object'
}
