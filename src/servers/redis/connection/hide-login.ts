/** The commands by which ioredis logs in. It adds a command with its arguments to the error of a refusal. */
const LOGINS = ['auth', 'hello']

/** What errors of ioredis have that can be another error. */
const INNER = ['cause', 'lastNodeError', 'previousErrors', 'errors'] as const

/**
 * Takes the password out of an error of ioredis, which becomes the cause of ours: whoever logs an error logs its causes as
 * well.
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
