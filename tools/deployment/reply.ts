/**
 * Returns the value of one reply. Returns `otherwise` if the value is missing, or if the key has
 * another type. Throws every other error.
 */
export function reply<T>(one: unknown, otherwise: T): T {
  if (one instanceof Error) {
    if (/^WRONGTYPE/.test(one.message)) return otherwise
    throw one
  }
  return one === null || one === undefined ? otherwise : (one as T)
}

/**
 * Like {@link reply}, but returns `otherwise` for every error. For commands that some servers or
 * logins refuse.
 */
export function replyIfAny<T>(one: unknown, otherwise: T): T {
  return one instanceof Error ? otherwise : reply(one, otherwise)
}

/** Splits a flat list, in which each value follows its name, into pairs of name and value. */
export function pairs(list: readonly string[]): [string, string][] {
  return list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1] ?? '']] : []))
}
