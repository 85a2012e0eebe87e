import { createHash } from 'node:crypto'

/**
 * Returns the ids of an owner's permits, as the scripts make them. Each id has 32 hex digits: 24
 * digits of the owner id's hash, and 8 digits of a number from 1.
 */
export function permitIds(owner: string, permits: number): string[] {
  const head = headOfIds(owner)
  const id = (_: unknown, i: number) => head + (i + 1).toString(16).padStart(8, '0')
  return Array.from({ length: permits }, id)
}

/** Returns the first 24 digits of the ids of an owner's permits. */
export function headOfIds(owner: string): string {
  return headOf(createHash('sha1').update(owner).digest('hex'))
}

/** Returns the first 24 digits of an id. All permits of one acquisition share these digits. */
export function headOf(id: string): string {
  return id.slice(0, 24)
}
