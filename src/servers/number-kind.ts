/**
 * The kinds of objects whose key in Redis contains only a number. These keys look alike, so another
 * key stores the kind.
 */
export type NumberKind = 'latch' | 'permits' | 'semaphore'

/** The words for each kind of object in the error that a name already belongs to another kind. */
export const WHAT_HAS_IT = {
  lock: 'a lock',
  readWrite: 'a read-write lock',
  latch: 'a latch',
  barrier: 'a cyclic barrier',
  permits: 'a semaphore with leases',
  semaphore: 'a semaphore without leases',
} as const

/**
 * Returns the error for a name that already belongs to another kind. The scripts answer with the
 * same words, after the code of the error.
 */
export function hasThisName(what: string): string {
  return `${what} has this name`
}

/**
 * Returns the words about the other kind in a refusal; undefined if the refusal has another reason.
 */
export function conflictIn(refusal: string): string | undefined {
  return /^(?:[A-Z]+ )?(an? .* has (?:this|the) name.*)$/s.exec(refusal)?.[1]
}
