/** The commands that log in. ioredis adds a refused command with its arguments to the error. */
const LOGINS = ['auth', 'hello']

/** The properties of ioredis errors that can hold another error. */
const INNER = ['cause', 'lastNodeError', 'previousErrors', 'errors'] as const

/**
 * Removes the password from an error of ioredis. The error becomes the cause of an error of
 * Holdfast, and a logger prints causes too.
 *
 * @returns the same error
 */
export function hideLogin<T>(error: T, depth = 0): T {
  if (typeof error !== 'object' || error === null || depth > 5) return error
  const one = error as { command?: { name?: unknown; args?: unknown } } & {
    [name in (typeof INNER)[number]]?: unknown
  }
  if (LOGINS.includes(String(one.command?.name).toLowerCase())) {
    one.command = { name: one.command?.name, args: ['***'] }
  }
  for (const name of INNER) {
    for (const inner of [one[name]].flat()) hideLogin(inner, depth + 1)
  }
  return error
}
