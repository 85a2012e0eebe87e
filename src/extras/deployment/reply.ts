/** One of many replies; what was refused because the key is of another type, or is gone, is `otherwise`. */
export function reply<T>(one: unknown, otherwise: T): T {
  if (one instanceof Error) {
    if (/^WRONGTYPE/.test(one.message)) return otherwise
    throw one
  }
  return one === null || one === undefined ? otherwise : (one as T)
}

/** Of what not every server or login can be asked. */
export function replyIfAny<T>(one: unknown, otherwise: T): T {
  return one instanceof Error ? otherwise : reply(one, otherwise)
}

/** A list in which each value follows its name. */
export function pairs(list: readonly string[]): [string, string][] {
  return list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1] ?? '']] : []))
}
