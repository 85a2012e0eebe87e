import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'
import type { Backend } from '../local/backend.ts'
import type { Holdings } from '../local/holdings.ts'
import type { Owners } from '../owner/owners.ts'
import type { RedisKind } from '../servers/redis/calls/redis-kind.ts'
import type { ServerKind } from '../servers/server-kind.ts'
import type { ServerWords } from '../servers/server-words.ts'

/** The parts of a client that the kinds use. */
export interface KindHost {
  readonly owners: Owners
  readonly backend: Backend
  readonly label: string
  readonly outageMs: number
  /** Returns the requests of a kind. Undefined if the server does not have the kind. */
  requests<R extends object>(kind: ServerKind<R>): R | undefined
  /**
   * Returns the key of a lock, or of another object with a name.
   *
   * @param what the object in the error for an invalid name, such as `latch`
   */
  rawName(name: string, what?: string): string
  /** Calls a method of another kind of the same client. For example, an election creates its fair lock. */
  call(name: string, ...args: unknown[]): unknown
}

export interface OpenKind<M extends object> {
  /** The methods of `Holdfast` that return objects of this kind. */
  readonly methods: M
  /** Returns the holds and waits of this kind that concern no lock, such as calls that await a latch. */
  holdings?(): Partial<Holdings>
  /** Called when the client begins to drain. Resolves when `holdings` contains no hold. */
  drain?(): Promise<void> | void
  /** Called when the client is closed. The client itself closes the locks of this kind. */
  shutDown?(): Promise<void> | void
  /** Called when all locks are released. */
  stopHeartbeat?(): void
}

/** One kind of locks that needs a single server. Each kind is described in one file of this folder. */
export interface KindDescriptor<M extends object> {
  /** The names of the methods that the kind adds to `Holdfast`. */
  readonly names: readonly string[]
  /** The requests of the kind to a server. */
  readonly requests: ServerKind<object>
  /** How these requests work on Redis. */
  readonly onRedis: Omit<RedisKind, 'what'>
  open(host: KindHost): OpenKind<M>
}

/**
 * Throws if the call has more arguments than the name. Similar methods accept more arguments, but here these would have
 * no effect.
 */
export function assertAlone(get: string, others: readonly unknown[], how: string): void {
  if (others.length === 0) return
  throw new InvalidArgumentError(`${get}(name) takes only a name; got ${show(others[0])}. ${how}`)
}

/** Makes the error for a kind that clients with independent masters do not have. */
export function needsOneServer(
  what: string,
  instead: string,
  name: string,
  { oneServer }: ServerWords,
): InvalidArgumentError {
  return new InvalidArgumentError(
    `${what}, and this client has independent masters. ${instead} ${oneServer}.`,
    name,
  )
}

/**
 * Makes the error for a semaphore on independent masters. Two majorities always share a master, but
 * they cannot count permits.
 */
export function semaphoreNeedsOneServer(name: string, words: ServerWords): InvalidArgumentError {
  return needsOneServer(
    `Semaphore ${show(name)}: it needs one server`,
    'Majorities cannot count permits: with two permits on each of three masters, three holders could have two votes ' +
      'each. Use a',
    name,
    words,
  )
}
