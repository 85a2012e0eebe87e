import type { DeploymentFacts, ServerFacts } from '../facts/facts.ts'

/**
 * - `error`: locks do not work on these servers, are lost without any failure, or depend on a
 *   failover that cannot happen;
 * - `warning`: usually, locks can be lost or cannot be acquired after a failure, such as a restart
 *   or a failover;
 * - `note`: good to know.
 */
export type Level = 'error' | 'warning' | 'note'

/** One observation of a check, about one server or about several servers. */
export interface Sighting {
  readonly code: string
  /** The address of the server. Undefined if the observation is about several servers. */
  readonly at: string | undefined
  readonly seen: string
  /** Why the observation matters to users of locks. */
  readonly why: string
  /** The commands that the user can paste into a shell. A line that begins with `#` is a remark. */
  readonly fix: readonly string[]
  /** The values that the check judged. */
  readonly numbers: Readonly<Record<string, number | string>>
}

/** A check judges facts. It sends no requests. */
export interface Check {
  /**
   * The codes that the check may report, each with its level. A code keeps its meaning in later
   * releases.
   */
  readonly codes: Readonly<Record<string, Level>>
  run(facts: DeploymentFacts): Iterable<Sighting>
}

export interface Finding extends Sighting {
  readonly level: Level
}

/**
 * Returns the command that changes a setting of the running server, and a remark that says how to
 * keep the change after a restart.
 */
export function setting({ cli }: ServerFacts, name: string, value: string | number): string[] {
  const quoted = /^\S+$/.test(`${value}`) ? value : `"${value}"`
  return [
    `${cli} CONFIG SET ${name} ${quoted}`,
    '# and the same in redis.conf (CONFIG REWRITE), or in the parameter group of your service',
  ]
}

/** Formats a number of bytes: 1536000 is `1.5 MiB`. */
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
