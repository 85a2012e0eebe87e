/** The result for one grant. */
export type Confirmation =
  | { readonly kind: 'confirmed' }
  /** The owner does not hold the lock any more. */
  | { readonly kind: 'gone' }
  | Shortfall

/** Fewer replicas than wanted have the grant. */
interface Shortfall {
  readonly kind: 'short'
  readonly wanted: number | 'all'
  /** How many replicas have the grant. */
  readonly confirmed: number
  /** How many replicas the master lists as connected; undefined if it does not report them. */
  readonly connected: number | undefined
  /** True if the master has the grant on disk; undefined if the client did not ask for that. */
  readonly fsynced: boolean | undefined
  readonly timeoutMs: number
}

/**
 * Checks that enough replicas have a grant. Rejects only with a `CallFailure`. After a rejection,
 * it is unknown how many replicas have the grant.
 */
export type Confirm = (granted: {
  readonly key: string
  readonly wireOwner: string
}) => Promise<Confirmation>
