import { scenarios as contended } from './contended.mjs'
import { scenarios as handOver } from './hand-over.mjs'
import { scenarios as uncontended } from './uncontended.mjs'
import { scenarios as waiters } from './waiters.mjs'

/** In the order of their letters. */
export const scenarios = [...uncontended, ...waiters, ...contended, ...handOver].sort((a, b) =>
  a.id < b.id ? -1 : 1,
)
