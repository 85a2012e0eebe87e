import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'

/**
 * Makes the error for a semaphore on independent masters. Two majorities always share a master, but
 * they cannot count permits.
 */
export function needsOneServer(name: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `Semaphore ${show(name)}: it needs one server, and this client has independent masters. Majorities cannot ` +
      'count permits: with two permits on each of three masters, three holders could have two votes each. ' +
      'Use a client with `redis`.',
    name,
  )
}
