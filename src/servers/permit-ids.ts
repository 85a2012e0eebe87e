import { createHash } from 'node:crypto'
import { permitsOf } from './permit-pool.ts'

/**
 * The ids of the permits that are taken in an owner's name, in 32 hex digits each, as the scripts make them: the
 * beginning of the hash of the name, and a number.
 */
export function permitIds(owner: string): string[] {
  const head = createHash('sha1').update(owner).digest('hex').slice(0, 24)
  const id = (_: unknown, i: number) => head + (i + 1).toString(16).padStart(8, '0')
  return Array.from({ length: permitsOf(owner) }, id)
}
