/** The outcome of the confirmation of one grant. */
export type Confirmation =
  | { readonly kind: 'confirmed' }
  /** The owner does not hold the lock. */
  | { readonly kind: 'gone' }
  | Shortfall

/** Too few replicas confirmed the grant in time. */
interface Shortfall {
  readonly kind: 'short'
  readonly wanted: number | 'all'
  /** The number of replicas that confirmed the grant. */
  readonly confirmed: number
  /**
   * The number of replicas that the master lists as connected; undefined if the master does not
   * report the number.
   */
  readonly connected: number | undefined
  /**
   * True if the master has the grant on disk. Undefined without the option `fsync`, or if the
   * client did not ask the master.
   */
  readonly fsynced: boolean | undefined
  readonly timeoutMs: number
}

/**
 * Waits until enough replicas have a grant, or until the time limit for confirmations. The promise
 * rejects only with a `CallFailure`. After a rejection, it is unknown how many replicas have the
 * grant.
 */
export type Confirm = (granted: {
  readonly rawName: string
  readonly ownerId: string
}) => Promise<Confirmation>
