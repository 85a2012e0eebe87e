import type { Cost, Inspection } from '../../inspection/inspection.ts'
import { isReply } from '../../servers/open-server.ts'
import { EXIT, type Terminal } from '../command/command.ts'
import { counted, duration, escaped } from '../text/words.ts'

/**
 * Opens an inspection of the servers for `work`, and closes it afterwards. After `work`, prints
 * which servers cannot be reached.
 *
 * @returns the exit code of `work`. If `work` fails because a server does not answer, or refuses a
 * request, prints the reason and returns `EXIT.failed`
 */
export async function withInspection(
  { open }: { readonly open: () => Inspection },
  terminal: Terminal,
  work: (inspection: Inspection) => Promise<number>,
): Promise<number> {
  const inspection = open()
  try {
    const code = await work(inspection)
    for (const { reason } of inspection.unreachable) terminal.err(`${escaped(reason)}\n`)
    return code
  } catch (error) {
    terminal.err(`${failureOf(error)}\n`)
    return EXIT.failed
  } finally {
    await inspection.close()
  }
}

/**
 * Returns the message for users if a server did not answer, or refused a request. Throws any other
 * error again.
 */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error) || !(error.constructor === Error || isReply(error))) throw error
  const { message } = error
  // In the message, the answer of a server stands at the beginning or after a colon.
  if (!/(?:^|: )NOPERM /.test(message)) return message
  return `${message}\ndocs/reference/acl.md lists the rights that a login needs.`
}

/** Describes the cost of the requests, in one line for users. */
export function costOf({ commands, bytes, tookMs }: Cost): string {
  const size =
    bytes < 10_000 ? `${bytes} B` : `${Math.round(bytes / 1_000).toLocaleString('en')} kB`
  return `${counted(commands, 'command')}, ${size}, ${duration(tookMs)}`
}
