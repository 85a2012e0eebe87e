export interface Attempt {
  /** The owner name of this attempt. No other attempt has it. */
  readonly owner: string
  readonly leaseMs: number
  /** How many more tokens to reserve for later hand-overs in this client. */
  readonly reserve: number
  readonly callMs: number
  /** The owner name with which the same owner holds the lock as another kind. */
  readonly beside?: string | undefined
  /** True if its client waits after a refusal. */
  readonly waits?: boolean
  /** How much longer the call waits, in milliseconds. */
  readonly leftMs?: number
  /** True if no later call of its client waits for the same kind. */
  readonly isLast?: boolean
}

export interface Reentry {
  readonly owner: string
  /** The token of the hold. */
  readonly token: number
  /** The hold count after the call. */
  readonly holds: number
  readonly leaseMs: number
  readonly callMs: number
}

export interface Ending {
  readonly owner: string
  /** The hold count after the call; 0 frees the lock. */
  readonly holds: number
  /** The token of the hold; '' ends any hold of the owner. */
  readonly token: number | ''
  readonly callMs: number
}
