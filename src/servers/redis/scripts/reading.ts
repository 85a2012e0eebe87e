import type { Remaining } from '../../remaining.ts'

/*
 * The functions with which the generated readers check answers. At an invalid value they throw, or
 * return undefined if their name ends in `OrNone`. A proxy or another server may answer anything.
 * The script may have run even then.
 */

export function odd(): Error {
  return new TypeError('This is not a valid answer of a script.')
}

export function listOf(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw odd()
  return reply
}

export function sized(list: readonly unknown[], least: number, most = least): void {
  if (list.length < least || list.length > most) throw odd()
}

/** Reads a whole number of at least `least`, given as a number or a text. */
export function whole(value: unknown, least: number): number {
  // This check comes first, because some values, such as a symbol, cannot become a number.
  if (!isWhole(value) || Number(value) < least) throw odd()
  return Number(value)
}

export function wholeOrNone(value: unknown, least: number): number | undefined {
  return isWhole(value) && Number(value) >= least ? Number(value) : undefined
}

/** Reads the answer of PTTL for a key that exists. PTTL answers -1 if the key never expires. */
export function ttlMs(value: unknown): number {
  const ms = whole(value, -1)
  return ms === -1 ? Infinity : ms
}

/** Reads a remaining time in the form of PTTL. -2 means that the owner holds nothing. */
export function remaining(value: unknown): Remaining {
  const ms = whole(value, -2)
  return ms === -2 ? 'gone' : ttlMs(ms)
}

export function remainingOrNone(value: unknown): Remaining | undefined {
  return wholeOrNone(value, -2) === undefined ? undefined : remaining(value)
}

/**
 * How a server writes a whole number. Lua writes a large number as `1.7e+15`. `Number` alone also reads
 * `0x10`, `1e3` and ` 5 `, which no script writes.
 */
const WHOLE = /^(-?\d+|\d(\.\d+)?e\+1\d)$/

function isWhole(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value)
  return typeof value === 'string' && WHOLE.test(value) && Number.isSafeInteger(Number(value))
}

/** Reads a whole number above 0. Returns it as text. */
export function digits(value: unknown): string {
  return String(whole(value, 1))
}

export function text(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw odd()
  return value
}

export function flag(value: unknown): boolean {
  const number = whole(value, 0)
  if (number > 1) throw odd()
  return number === 1
}

/** Reads a list of pairs. RESP2 sends a flat list, and RESP3 may send nested pairs. */
export function pairs(list: unknown): [string, string][] {
  const flat = listOf(list).flat()
  if (flat.length % 2 !== 0) throw odd()
  if (!flat.every((one) => typeof one === 'string' || typeof one === 'number')) throw odd()
  return Array.from({ length: flat.length / 2 }, (_, i) => [
    String(flat[2 * i]),
    String(flat[2 * i + 1]),
  ])
}
