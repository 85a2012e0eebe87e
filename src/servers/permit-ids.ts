import { createHash } from 'node:crypto'
import { permitsOf } from './permit-pool.ts'

/**
 * The ids of the permits that are taken in an owner's name, in 32 hex digits each, as the scripts make them: the
 * beginning of the hash of the name, and a number.
 */
export function permitIds(owner: string): string[] {
  const head = headOfIds(owner)
  const id = (_: unknown, i: number) => head + (i + 1).toString(16).padStart(8, '0')
  return Array.from({ length: permitsOf(owner) }, id)
}

/** What all ids of that owner begin with. */
export function headOfIds(owner: string): string {
  return headOf(createHash('sha1').update(owner).digest('hex'))
}

/** What an id shares with all others of its acquisition. */
export function headOf(id: string): string {
  return id.slice(0, 24)
}
