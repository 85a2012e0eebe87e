import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'
import type { ServerWords } from '../../servers/server-words.ts'

/**
 * Makes the error for a semaphore on independent masters. Two majorities always share a master, but
 * they cannot count permits.
 */
export function needsOneServer(name: string, { oneServer }: ServerWords): InvalidArgumentError {
  return new InvalidArgumentError(
    `Semaphore ${show(name)}: it needs one server, and this client has independent masters. Majorities cannot ` +
      'count permits: with two permits on each of three masters, three holders could have two votes each. ' +
      `Use a ${oneServer}.`,
    name,
  )
}
