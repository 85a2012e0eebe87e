import type { Redis } from 'ioredis'

/** Runs a command of the test, by its name in ioredis. */
export type Ask = (command: string, args: unknown[]) => Promise<unknown>

/**
 * Returns a replacement for the admin connection of a server. It passes each command, also those of a MULTI, to `ask`.
 */
export function adminBy<Admin extends object>(ask: Ask): Admin {
  return new Proxy({} as Admin, {
    get: (_, command: string) =>
      command === 'multi' ? () => multiBy(ask) : (...args: unknown[]) => ask(command, args),
  })
}

function multiBy(ask: Ask): object {
  const calls: [string, unknown[]][] = []
  const chain: object = new Proxy(
    {},
    {
      get: (_, command: string) => {
        if (command !== 'exec') {
          return (...args: unknown[]) => {
            calls.push([command, args])
            return chain
          }
        }
        return async () => {
          for (const [name, args] of calls) await ask(name, args)
        }
      },
    },
  )
  return chain
}

/** Runs a command on one server, by the name of the command in ioredis. */
export function commandOf(admin: Redis, command: string, args: unknown[]): Promise<unknown> {
  const commands = admin as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
  return (commands[command] as (...args: unknown[]) => Promise<unknown>).apply(admin, args)
}
