/** The kinds whose key in Redis is a number. Their keys look alike, so a note tells them apart. */
export type NumberKind = 'latch' | 'permits' | 'semaphore'

/** Words for what has a name that a caller wants for another kind. */
export const WHAT_HAS_IT = {
  lock: 'a lock',
  readWrite: 'a read-write lock',
  latch: 'a latch',
  permits: 'a semaphore with leases',
  semaphore: 'a semaphore without leases',
} as const

/** The refusal of a name that another kind has, in the words of the scripts. */
export function hasThisName(what: string): string {
  return `WRONGTYPE ${what} has this name`
}
