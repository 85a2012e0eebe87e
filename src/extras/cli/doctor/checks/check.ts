import type { Facts, ServerFacts } from '../facts/facts.ts'

/**
 * - `error`: locks do not work here, or are lost while nothing fails;
 * - `warning`: they are lost, or cannot be had, when something fails that does fail;
 * - `note`: good to know.
 */
export type Level = 'error' | 'warning' | 'note'

/** What one check saw at one server, or of all together. */
export interface Sighting {
  readonly code: string
  /** The address of the server; undefined where it is about all of them. */
  readonly at: string | undefined
  readonly seen: string
  /** Why somebody who uses locks cares. */
  readonly why: string
  /** Lines to paste, and such as begin with `#` to read. */
  readonly fix: readonly string[]
  /** What it was judged by. */
  readonly numbers: Readonly<Record<string, number | string>>
}

/** Looks at facts, and at nothing else. */
export interface Check {
  /** What it may find; a code has one level, and stays the same between releases. */
  readonly codes: Readonly<Record<string, Level>>
  run(facts: Facts): Iterable<Sighting>
}

export interface Finding extends Sighting {
  readonly level: Level
}

/** The line to paste for the server that runs, and where else it belongs. */
export function setting({ cli }: ServerFacts, name: string, value: string | number): string[] {
  const quoted = /^\S+$/.test(`${value}`) ? value : `"${value}"`
  return [
    `${cli} CONFIG SET ${name} ${quoted}`,
    '# and the same in redis.conf (CONFIG REWRITE), or in the parameter group of your service',
  ]
}

/** 1536000 is `1.5 MiB`. */
export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let size = count
  let unit = 0
  while (size >= 1_024 && unit < units.length - 1) {
    size /= 1_024
    unit++
  }
  return `${Number(size.toFixed(1))} ${units[unit]}`
}
