/** Returns the name to report for a lock; undefined reports no name. */
export type NameOf = (name: string) => string | undefined

/** The name that is reported for every name after the first {@link MOST_NAMES}. */
const OTHER_NAMES = 'other'

export const MOST_NAMES = 100

/** Wraps the user's function. If it throws or returns no text, the name is undefined. */
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
 * Like {@link guardedNameOf}, but after `most` names it returns `other`, because each name adds
 * series to a metrics store.
 *
 * @param overflowed called each time that `other` replaces a name
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
