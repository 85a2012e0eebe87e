import { openDeployment } from '../../deployment/open-deployment.ts'
import type { Cost, Deployment } from '../../deployment/rows.ts'
import { isReply } from '../../servers/open-server.ts'
import { EXIT, type Terminal } from '../command/command.ts'
import { counted, duration, escaped } from '../text/words.ts'
import type { ReadOptions } from './options.ts'

/**
 * Opens a deployment for `work`, and closes it afterwards.
 *
 * @returns the exit code of `work`. If a server could not be asked, prints the reason and returns
 * `EXIT.failed`
 */
export async function withDeployment(
  { where, timeoutMs }: ReadOptions,
  terminal: Terminal,
  work: (deployment: Deployment) => Promise<number>,
): Promise<number> {
  const deployment = openDeployment(where, { timeoutMs })
  try {
    const code = await work(deployment)
    for (const { reason } of deployment.unreachable) terminal.err(`${escaped(reason)}\n`)
    return code
  } catch (error) {
    terminal.err(`${failureOf(error)}\n`)
    return EXIT.failed
  } finally {
    await deployment.close()
  }
}

/**
 * True if the output may lack locks: a node of a cluster cannot be reached, and no other node has
 * its locks.
 */
export function isIncomplete({ where }: ReadOptions, { unreachable }: Deployment): boolean {
  return where.kind === 'cluster' && unreachable.length > 0
}

/**
 * Returns the message for users if a server could not be asked. Any other error is a defect, and is
 * thrown again.
 */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error) || !(error.constructor === Error || isReply(error))) throw error
  const { message } = error
  if (!/^NOPERM/.test(message)) return message
  return `${message}\ndocs/reference/acl.md lists the rights that a login needs.`
}

/** Describes the cost of the requests, in one line for users. */
export function costOf({ commands, bytes, tookMs }: Cost): string {
  const size =
    bytes < 10_000 ? `${bytes} B` : `${Math.round(bytes / 1_000).toLocaleString('en')} kB`
  return `${counted(commands, 'command')}, ${size}, ${duration(tookMs)}`
}
