import { inspect } from 'node:util'

/**
 * Returns a value as text for an error message. The text hides the content of objects and lists,
 * and the parts of a URL that may contain a password.
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
