import { InvalidArgumentError } from '../errors.ts'
import { timerMs } from './input.ts'

/** Checks a `keepMs`. 0 means that the client does not keep the lock. */
export function keepMs(value: unknown, what: string): number {
  return value === 0 ? 0 : timerMs(value, what)
}

/** The rule of `keepMs` for the kinds of locks that a client cannot keep. */
export function refuseKeepMs(_value: unknown, what: string): never {
  throw new InvalidArgumentError(
    `${what} is an option of getLock() only. The server decides which waiter is next for this kind of lock, and calls ` +
      'of a client that keeps the lock would overtake these waiters.',
  )
}

/** @throws `InvalidArgumentError` if an option of the client prevents that the client keeps locks */
export function assertMayKeep(keptMs: number, isQuorum: boolean, isDurable: boolean): void {
  if (keptMs === 0 || !(isQuorum || isDurable)) return
  throw new InvalidArgumentError(
    isQuorum
      ? '`keepMs` cannot be combined with `masters`: one server must reserve the tokens for later calls. Use a client with one server.'
      : '`keepMs` cannot be combined with `durability`: the replicas must confirm each acquisition. Leave out one of both.',
  )
}
