import { createHash } from 'node:crypto'
import { permitsOf } from './permit-pool.ts'

/**
 * The ids of the permits of an owner, each in 32 hex digits, as the scripts make them. An id is the
 * beginning of the hash of the owner name, and a number.
 */
export function permitIds(owner: string): string[] {
  const head = headOfIds(owner)
  const id = (_: unknown, i: number) => head + (i + 1).toString(16).padStart(8, '0')
  return Array.from({ length: permitsOf(owner) }, id)
}

/** The part that all ids of an owner begin with. */
export function headOfIds(owner: string): string {
  return headOf(createHash('sha1').update(owner).digest('hex'))
}

/** The part of an id that all ids of its acquisition share. */
export function headOf(id: string): string {
  return id.slice(0, 24)
}
