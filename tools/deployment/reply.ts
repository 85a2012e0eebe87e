/**
 * The value of one of many replies. If the value is missing, or the key has another type, returns
 * `otherwise`. Throws any other error.
 */
export function reply<T>(one: unknown, otherwise: T): T {
  if (one instanceof Error) {
    if (/^WRONGTYPE/.test(one.message)) return otherwise
    throw one
  }
  return one === null || one === undefined ? otherwise : (one as T)
}

/**
 * Like {@link reply}, for commands that some servers or logins refuse. Every error becomes
 * `otherwise`.
 */
export function replyIfAny<T>(one: unknown, otherwise: T): T {
  return one instanceof Error ? otherwise : reply(one, otherwise)
}

/** Splits a list in which each value follows its name. */
export function pairs(list: readonly string[]): [string, string][] {
  return list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1] ?? '']] : []))
}
