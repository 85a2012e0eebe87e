import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'
import { optionsOf } from './input.ts'
import type { RequestReleaseOptions } from './options.ts'

export function requestOptionsOf(options: unknown): { reason: string | null; owner?: string } {
  const given = optionsOf(options ?? {}, 'The options of requestRelease()', ['reason', 'owner'])
  const { reason = null, owner } = given as RequestReleaseOptions
  if (reason !== null && typeof reason !== 'string') {
    throw new InvalidArgumentError(`\`reason\` must be text for the holder; got ${show(reason)}.`)
  }
  if (owner === undefined) return { reason }
  if (typeof owner === 'string' && owner.includes(':')) return { reason, owner }
  throw new InvalidArgumentError(
    `\`owner\` must be the name of an owner as inspect() shows it, <clientId>:<owner>; got ${show(owner)}.`,
  )
}
