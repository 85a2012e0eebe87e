export interface Attempt {
  /** The owner id of this attempt. No other attempt has this id. */
  readonly owner: string
  readonly leaseMs: number
  /** How many tokens to reserve below the new token, for later hand-overs in this client. */
  readonly reserve: number
  readonly callMs: number
  /**
   * The owner id with which this owner already holds another side of a read-write lock. Undefined
   * if there is none.
   */
  readonly beside?: string | undefined
  /** True if the client keeps a place in the queue after a refusal. */
  readonly waits?: boolean
  /**
   * How much longer the call waits, in milliseconds; Infinity or undefined if the call waits
   * without a limit.
   */
  readonly leftMs?: number
  /**
   * True if no later call of the client needs the client's place in the queue. A grant then removes
   * the place.
   */
  readonly isLast?: boolean
}

export interface Reentry {
  readonly owner: string
  /** The token of the hold that the owner acquires again. */
  readonly token: number
  /** The hold count after the request. */
  readonly holds: number
  readonly leaseMs: number
  readonly callMs: number
}

export interface Passing {
  readonly from: { readonly owner: string; readonly token: number }
  readonly to: { readonly owner: string; readonly leaseMs: number }
  /**
   * Says whether the server may free the lock instead of the hand-over. With `forOthers`, the server
   * frees the lock if other clients wait. With `always`, the server assumes one more waiting client.
   */
  readonly mayFree: 'never' | 'forOthers' | 'always'
  /**
   * True if this client listens for releases of the lock. The server then does not count this
   * client as another client.
   */
  readonly listens: boolean
  /** How many tokens to reserve below the new token, for later hand-overs in this client. */
  readonly reserve: number
  readonly callMs: number
}

export interface LoweredHold {
  readonly owner: string
  /** The hold count after the request; 0 ends the hold. */
  readonly holds: number
  /** The token of the hold; '' ends every hold of the owner. */
  readonly token: number | ''
  /**
   * True if this client listens for releases of the lock. The server then does not count this
   * client as another client.
   */
  readonly listens?: boolean
  readonly callMs: number
}

/** Returns the request that ends every hold of an owner. */
export function wholeRelease(owner: string, callMs: number): LoweredHold {
  return { owner, holds: 0, token: '', callMs }
}
