/** The kinds of things whose key in Redis is a number, and which look alike there: a note tells them apart. */
export type NumberKind = 'latch' | 'permits' | 'semaphore'

/** What has a name that is wanted for something else, in words for people. */
export const WHAT_HAS_IT = {
  lock: 'a lock',
  readWrite: 'a read-write lock',
  latch: 'a latch',
  permits: 'a semaphore with leases',
  semaphore: 'a semaphore without leases',
} as const

/** The refusal of a name that something else has, in the words of the scripts. */
export function hasThisName(what: string): string {
  return `WRONGTYPE ${what} has this name`
}
