/** Which name telemetry has for the one of a lock; undefined for none. */
export type NameOf = (name: string) => string | undefined

/** The name for all that come after the first {@link MOST_NAMES}. */
const OTHER_NAMES = 'other'

export const MOST_NAMES = 100

/** A user's function that may throw, or give what is no text, where no more than a text is wanted. */
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
 * The same with no more names than a store of metrics can bear, whatever the function gives.
 *
 * @param overflowed told of each name that becomes `other`
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
