import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'
import { abortSignal, waitMs } from '../../options/input.ts'
import { or, shape } from '../../options/shape.ts'

const readFree = shape('The options of whenFree()', {
  waitMs: or(waitMs('To ask once without waiting, use isLocked().'), Infinity),
  signal: abortSignal,
})

const readRequest = shape('The options of requestRelease()', {
  reason: or((reason: unknown) => {
    if (reason === null || typeof reason === 'string') return reason
    throw new InvalidArgumentError(`\`reason\` must be text for the holder; got ${show(reason)}.`)
  }, null),
  owner: (owner: unknown) => {
    if (typeof owner === 'string' && owner.includes(':')) return owner
    throw new InvalidArgumentError(
      `\`owner\` must be the name of an owner as inspect() shows it, <clientId>:<owner>; got ${show(owner)}.`,
    )
  },
})

export const whenFreeOptions = (options: unknown) => readFree(options ?? {})
export const requestOptions = (options: unknown) => readRequest(options ?? {})
