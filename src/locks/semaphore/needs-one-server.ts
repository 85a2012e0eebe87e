import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'

/** Why there are no semaphores where locks are held by a majority: votes overlap, but do not count. */
export function needsOneServer(name: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `Semaphore ${show(name)}: it needs one server, and this client has independent masters, whose ` +
      'majorities do not count: of three with two permits each three holders would have two votes each. ' +
      'Use a client with `redis`.',
    name,
  )
}
