import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'
import type { Backend } from '../local/backend.ts'
import type { Holdings } from '../local/holdings.ts'
import type { Owners } from '../owner/owners.ts'
import type { ServerKind } from '../servers/server-kind.ts'
import type { ServerWords } from '../servers/server-words.ts'

/** The parts of a client that the code of a kind uses. */
export interface KindHost {
  readonly owners: Owners
  readonly backend: Backend
  readonly label: string
  readonly outageMs: number
  /**
   * Returns the requests that locks of this kind send to the server. Undefined if the server does not support the kind.
   */
  requests<R extends object>(kind: ServerKind<R>): R | undefined
  /**
   * Returns the key of a lock, or of another object with a name.
   *
   * @param what the word for the object in errors, such as `latch`; `lock` by default
   */
  rawName(name: string, what?: string): string
  /**
   * Calls a method that another kind of the same client has. For example, an election creates its fair lock in this
   * way.
   */
  call(name: string, ...args: unknown[]): unknown
}

export interface OpenKind<M extends object> {
  /** The methods of `Holdfast` that return objects of this kind. */
  readonly methods: M
  /** Returns the holds and waits of this kind that belong to no lock, such as a call that awaits a latch. */
  holdings?(): Partial<Holdings>
  /** Called when the client begins to drain. The promise resolves when the `holdings` of this kind contain no hold. */
  drain?(): Promise<void> | void
  /** Called when the client closes. The client itself closes the locks of this kind. */
  shutDown?(): Promise<void> | void
  /** Called when the client closes, after the release of all locks. */
  stopHeartbeat?(): void
}

/** One kind of locks that needs a single server. Each kind has one file in this folder. */
export interface KindDescriptor<M extends object> {
  /** The names of the methods that the kind adds to `Holdfast`. */
  readonly names: readonly string[]
  /** The requests of the kind to a server. */
  readonly requests: ServerKind<object>
  open(host: KindHost): OpenKind<M>
}

/**
 * Throws if the call has arguments after the name, because the method would ignore them.
 *
 * @param get the name of the method
 * @param others the arguments after the name
 * @param how the advice in the error
 */
export function assertAlone(get: string, others: readonly unknown[], how: string): void {
  if (others.length === 0) return
  throw new InvalidArgumentError(`${get}(name) takes only a name; got ${show(others[0])}. ${how}`)
}

/** Makes the error for a kind that a client with independent masters does not support. */
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
 * Makes the error for a semaphore on independent masters. The error explains with an example that majorities cannot
 * count permits.
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
