// The kinds of primitives that clients use, and their names. A world does not run the kinds that it refuses.

/** The kinds that `--kinds` accepts. */
export const KINDS = ['lock', 'read-write', 'permits', 'semaphore', 'latch', 'barrier', 'election']

/** Independent masters refuse all kinds except locks. */
export const kindsIn = (kinds, { isQuorum }) =>
  isQuorum ? kinds.filter((kind) => kind === 'lock') : kinds

/** The number of permits of a semaphore, of count-downs that open a latch, and of parties that end a round. */
export const PERMITS = 3
export const COUNT = 4
export const PARTIES = 3

/** The names that all clients share, in addition to the locks of their world. */
export const NAMES = {
  lock: [],
  'read-write': ['rw-a', 'rw-b'],
  permits: ['permits-a', 'permits-b'],
  semaphore: ['slots-a'],
  latch: ['latch-a', 'latch-b'],
  barrier: ['barrier-a', 'barrier-b'],
  election: ['election-a'],
}

/** True for the name of a semaphore without leases: it ends with a generation, and its number stays in Redis. */
export const hasGeneration = (name) => /\.\d+$/.test(name)

/** @returns the kinds of `--kinds`; it throws an error that lists all kinds if one of them is unknown */
export function readKinds(words) {
  if (words === 'all') return KINDS
  const kinds = words.split(',')
  const unknown = kinds.filter((kind) => !KINDS.includes(kind))
  if (unknown.length === 0) return kinds
  throw new Error(`There is no kind "${unknown.join()}". Kinds are ${KINDS.join(', ')}, or all.`)
}
