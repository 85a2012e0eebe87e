import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'
import type { Backend } from '../local/backend.ts'
import type { Holdings } from '../local/holdings.ts'
import type { Owners } from '../owner/owners.ts'
import type { RedisKind } from '../servers/redis/calls/redis-kind.ts'
import type { ServerKind } from '../servers/server-kind.ts'

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
  /** Calls a method of another kind of the same client. An election uses a fair lock. */
  call(name: string, ...args: unknown[]): unknown
}

/** One kind of locks of one client. */
export interface OpenKind<M extends object> {
  /** The methods of `Holdfast` that return objects of this kind. */
  readonly methods: M
  /** The holds and waits that do not belong to locks. */
  holdings?(): Partial<Holdings>
  /** Ends what may end early, and resolves when nothing is held that does not belong to locks. */
  drain?(): Promise<void> | void
  /** Closes the parts that are not locks. The locks are closed later. */
  shutDown?(): Promise<void> | void
  /** Called when all locks are released. */
  stopHeartbeat?(): void
}

/** One kind of locks that needs a single server. Each kind is described in one file of this folder. */
export interface KindDescriptor<M extends object> {
  /** The methods that the kind adds to `Holdfast`. */
  readonly names: readonly string[]
  /** The requests of the kind, unless `LockServer` has a member for them. */
  readonly requests?: ServerKind<object>
  /** The same requests on Redis. */
  readonly onRedis?: Omit<RedisKind, 'what'>
  open(host: KindHost): OpenKind<M>
}

/**
 * Throws if arguments follow the name. Similar methods accept such arguments, but here they would
 * have no effect.
 */
export function assertAlone(get: string, others: readonly unknown[], how: string): void {
  if (others.length === 0) return
  throw new InvalidArgumentError(`${get}(name) takes only a name; got ${show(others[0])}. ${how}`)
}

/** The error of a client with independent masters, on which this kind does not exist. */
export function refused(what: string, instead: string, name: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `${what}, and this client has independent masters. ${instead} client with \`redis\`.`,
    name,
  )
}
