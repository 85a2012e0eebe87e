/** What became of a grant. */
export type Confirmation =
  | { readonly kind: 'confirmed' }
  /** Its owner does not hold it any more. */
  | { readonly kind: 'gone' }
  | Shortfall

/** Fewer replicas have it than wanted. */
interface Shortfall {
  readonly kind: 'short'
  readonly wanted: number | 'all'
  /** How many have it. */
  readonly confirmed: number
  /** How many the master lists as connected; undefined where it does not tell. */
  readonly connected: number | undefined
  /** Whether the master has it on disk; undefined where that was not asked. */
  readonly fsynced: boolean | undefined
  readonly timeoutMs: number
}

/**
 * Confirms what the owner was granted. Rejects with a `CallFailure` and nothing else: then nothing is known of
 * the replicas.
 */
export type Confirm = (granted: {
  readonly key: string
  readonly wireOwner: string
}) => Promise<Confirmation>
