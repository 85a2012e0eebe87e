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
  /** How many replicas have it. */
  readonly confirmed: number
  /** How many replicas the master lists as connected; undefined if it does not report them. */
  readonly connected: number | undefined
  /** True if the master has it on disk; undefined if that was not asked. */
  readonly fsynced: boolean | undefined
  readonly timeoutMs: number
}

/**
 * Confirms a grant. Rejects only with a `CallFailure`; then the state of the replicas is unknown.
 */
export type Confirm = (granted: {
  readonly key: string
  readonly wireOwner: string
}) => Promise<Confirmation>
