/**
 * A kind of lock, latch, semaphore or barrier that not every server supports. `R` is the interface
 * to its requests, for one client.
 */
export interface ServerKind<R extends object> {
  /** The name of the kind. A server uses this name to find its own requests for the kind. */
  readonly name: string
  /** The words for an object of the kind, in the error for a name that another object has. */
  readonly what: string
  /** Always undefined. This member only gives TypeScript the type of the requests. */
  readonly requests?: R
}

/** The words for a lock in such errors. Plain locks have no `ServerKind`. */
export const LOCK_WORDS = 'a lock'

/** The client that uses a kind. */
export interface KindClient {
  readonly clientId: string
  readonly label: string
  /** For how long the client repeats a failed request, in milliseconds. */
  readonly outageMs: number
}
