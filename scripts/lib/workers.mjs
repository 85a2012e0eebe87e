import { availableParallelism } from 'node:os'

/** Tests that wait more than they work need more workers than the machine has cores; 24 are enough on a large machine. */
export const workers = (perCore) =>
  Math.max(2, Math.min(24, Math.round(perCore * availableParallelism())))
