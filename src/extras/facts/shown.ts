import { inspect } from 'node:util'

/** A value as an error message shows it. An object can have a password in it, and so can a URL. */
export function shown(value: unknown): string {
  if (typeof value === 'string') {
    return inspect(value.replace(/^([a-z]*:\/\/)?.*@/s, '$1***@').replace(/([?=]).*$/s, '$1***'))
  }
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'function' ? 'a function' : String(value)
  }
  return Array.isArray(value) ? 'a list' : 'an object'
}
