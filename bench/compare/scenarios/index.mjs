import { scenarios as contended } from './contended.mjs'
import { scenarios as handOver } from './hand-over.mjs'
import { scenarios as many } from './many.mjs'
import { scenarios as names } from './names.mjs'
import { scenarios as thePackage } from './package.mjs'
import { scenarios as quorum } from './quorum.mjs'
import { scenarios as uncontended } from './uncontended.mjs'
import { scenarios as waiters } from './waiters.mjs'

/** Sorted by their letters. */
export const scenarios = [
  uncontended,
  waiters,
  contended,
  handOver,
  many,
  quorum,
  names,
  thePackage,
]
  .flat()
  .sort((a, b) => (a.id < b.id ? -1 : 1))
