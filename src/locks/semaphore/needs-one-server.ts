import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'

/** The error for a semaphore on independent masters. Majorities overlap, but they cannot count. */
export function needsOneServer(name: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `Semaphore ${show(name)}: it needs one server, and this client has independent masters. Majorities cannot ` +
      'count permits: with two permits on each of three masters, three holders could have two votes each. ' +
      'Use a client with `redis`.',
    name,
  )
}
