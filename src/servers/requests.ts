/** A first acquisition. */
export interface Attempt {
  /** The name that it is asked for in: no other attempt has it. */
  readonly owner: string
  readonly leaseMs: number
  /** How many tokens are wanted beside the one. */
  readonly reserve: number
  readonly callMs: number
  /** The name under which its owner has the lock as another kind. */
  readonly beside?: string | undefined
  /** Whether its client waits where it is refused. */
  readonly waits?: boolean
  /** For how much longer it does, in milliseconds. */
  readonly leftMs?: number
  /** Whether nobody behind it in its client waits for the same kind. */
  readonly isLast?: boolean
}

/** One more acquisition of a hold. */
export interface Reentry {
  readonly owner: string
  /** Of the hold. */
  readonly token: number
  /** The count wanted afterwards. */
  readonly holds: number
  readonly leaseMs: number
  readonly callMs: number
}

export interface Ending {
  readonly owner: string
  /** The count wanted afterwards; 0 frees the lock. */
  readonly holds: number
  /** Of the hold; '' ends whatever hold that owner has. */
  readonly token: number | ''
  readonly callMs: number
}
