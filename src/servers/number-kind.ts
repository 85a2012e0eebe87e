/**
 * The kinds whose key in Redis is a number. Because these keys look alike, another key stores the
 * kind.
 */
export type NumberKind = 'latch' | 'permits' | 'semaphore'

/** The words in an error for the thing that already has the name. */
export const WHAT_HAS_IT = {
  lock: 'a lock',
  readWrite: 'a read-write lock',
  latch: 'a latch',
  permits: 'a semaphore with leases',
  semaphore: 'a semaphore without leases',
} as const

/** The refusal of a name that another kind already has. The scripts use the same words. */
export function hasThisName(what: string): string {
  return `WRONGTYPE ${what} has this name`
}
