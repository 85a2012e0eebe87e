// The kinds of primitives that clients use, and what their names are. A kind that a world refuses is left out there.

/** Which kinds a run can have, by the word for `--kinds`. */
export const KINDS = ['lock', 'read-write', 'permits', 'semaphore', 'latch', 'barrier', 'election']

/** Independent masters refuse all kinds but locks. */
export const kindsIn = (kinds, { isQuorum }) =>
  isQuorum ? kinds.filter((kind) => kind === 'lock') : kinds

/** How many permits a semaphore has, how many count-downs open a latch, and how many parties end a round. */
export const PERMITS = 3
export const COUNT = 4
export const PARTIES = 3

/** What all clients fight for, beside the locks of their world. */
export const NAMES = {
  lock: [],
  'read-write': ['rw-a', 'rw-b'],
  permits: ['permits-a', 'permits-b'],
  semaphore: ['slots-a'],
  latch: ['latch-a', 'latch-b'],
  barrier: ['barrier-a', 'barrier-b'],
  election: ['election-a'],
}

/** The number of a semaphore without leases stays: its name ends with a generation. */
export const hasGeneration = (name) => /\.\d+$/.test(name)

/** @returns the kinds of `--kinds`, or an error that tells which there are */
export function readKinds(words) {
  if (words === 'all') return KINDS
  const kinds = words.split(',')
  const unknown = kinds.filter((kind) => !KINDS.includes(kind))
  if (unknown.length === 0) return kinds
  throw new Error(`There is no kind "${unknown.join()}". Kinds are ${KINDS.join(', ')}, or all.`)
}
