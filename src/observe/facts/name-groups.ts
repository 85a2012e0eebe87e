/**
 * Returns the name under which telemetry reports a lock; undefined if telemetry reports no name.
 */
export type NameOf = (name: string) => string | undefined

/** Replaces every new name after the limit of names is reached. */
const OTHER_NAMES = 'other'

export const MOST_NAMES = 100

/**
 * Returns a function that never throws. The function returns undefined if the user's function
 * throws or does not return text.
 */
export function guardedNameOf(nameOf: NameOf | undefined): NameOf {
  return (name) => {
    try {
      const group: unknown = nameOf?.(name)
      return typeof group === 'string' ? group : undefined
    } catch {
      return undefined
    }
  }
}

/**
 * Like {@link guardedNameOf}, but after `most` different names the function returns `other` for
 * every new name. The limit exists because each name adds series to the metrics store.
 *
 * @param overflowed called each time `other` replaces a name
 */
export function cappedNameOf(
  nameOf: NameOf | undefined,
  most = MOST_NAMES,
  overflowed?: () => void,
): NameOf {
  const guarded = guardedNameOf(nameOf)
  const groups = new Set<string>()
  return (name) => {
    const group = guarded(name)
    if (group === undefined || groups.has(group)) return group
    if (groups.size >= most) {
      overflowed?.()
      return OTHER_NAMES
    }
    groups.add(group)
    return group
  }
}
