export type AcquireAnswer = Granted | Held

export type ReenterAnswer = Granted | Gone

export type HandOverAnswer = Granted | Gone | Yielded

/** The answer to a request for a fair lock. */
export type QueueAnswer = Granted | Held | Queued

export interface Granted {
  readonly kind: 'granted'
  readonly token: number
  /**
   * How many tokens directly below `token` are reserved for later hand-overs; 0 or undefined if none.
   */
  readonly reserved?: number
  /**
   * The client calls this function with a function that returns the lease of the hold. If masters may
   * lack the hold, the quorum restores the hold on these masters. Undefined without a quorum.
   */
  readonly onHeld?: (lease: () => LeaseToRenew) => void
}

/** The owner does not hold the lock. */
export interface Gone {
  readonly kind: 'gone'
}

/** The server freed the lock and did not hand it over, because other clients may wait. */
export interface Yielded {
  readonly kind: 'yielded'
  /** The number of other clients that wait; undefined if the server does not know. */
  readonly others: number | undefined
  /** Set if a minority of masters may have granted the lock to the new owner id. */
  readonly split?: object
}

/** The holder of a lock and its queue, as the server reports them when it refuses a request. */
export interface LastHolder {
  /** The holder as `<clientId>:<owner>`; '' if the lock is free or the holder is unknown. */
  readonly holder?: string
  /** How long the holder has held the lock, in milliseconds; null if that is unknown. */
  readonly ageMs?: number | null
  /** The remaining time of the holder's lease, in milliseconds; Infinity if endless or unknown. */
  readonly ttlMs?: number
  /** The number of waiters of a fair lock. Set only if the request did not join the queue. */
  readonly length?: number
  /** The owner's position in the queue, from 1; usually null if the owner was there before. */
  readonly position?: number | null
  /** Set if the caller wants several locks together, and this lock did not cause the refusal. */
  readonly isOther?: true
}

/** The refusal of a request, usually because another owner holds the lock. */
export interface Held extends LastHolder {
  readonly kind: 'held'
  /** The time until the lock may be free, in milliseconds; Infinity if the time is unknown. */
  readonly ttlMs: number
  /** Set if the client sent no request, and gave this answer itself. */
  readonly unasked?: true
  /** Set if a further attempt is pointless. The caller rejects with this error. */
  readonly never?: Error
  /**
   * The id of the client's wait on the server. The client sends the id in its next attempt, and
   * compares the id with hints. '' or undefined if the server stores no wait.
   */
  readonly waitId?: string
  /** Set if a minority of masters may have granted the lock. The caller abandons the owner id. */
  readonly split?: {
    /** The pause before the next attempt, in milliseconds; undefined if no vote was granted. */
    readonly pauseMs?: number
  }
}

/** The answer to an owner that is in the queue of a fair lock. */
export interface Queued extends LastHolder {
  readonly kind: 'queued'
  readonly ticket: string
  /** The last token that the server issued for the lock; 0 if the server remembers none. */
  readonly lastToken: number
  /** The remaining time of the holder's lease, in milliseconds; Infinity if endless. */
  readonly ttlMs: number
  /** True if the owner is at the head of the queue. */
  readonly first: boolean
}

/** The answer to the heartbeat of one client for one fair lock. */
export interface HeartbeatAnswer {
  /** The holder's remaining lease, in milliseconds; Infinity if endless or without a holder. */
  readonly ttlMs: number
  readonly lastToken: number
  /**
   * The first owner in the queue; '' if there is none. Near the end of a lease, the first owner whose
   * client is alive.
   */
  readonly first: string
  /** The holder if the holder is an owner of this client; otherwise ''. */
  readonly granted: string
  /** The number of the client's places that the queue had lost. The heartbeat added them again. */
  readonly missing: number
  /** The holder, even if it is an owner of another client; '' if the lock is free. */
  readonly holder: string
}

/** The owner to which the release of a fair lock granted the lock. */
export interface NextHolder {
  readonly owner: string
  readonly token: number
  /** True if the owner belongs to the client that released the lock. */
  readonly own: boolean
  /**
   * The run: the next owners of the same client in the queue, in FIFO order. Their tokens are at most
   * `token`.
   */
  readonly run?: readonly string[]
}

export type Released =
  | {
      readonly kind: 'freed'
      /** The number of other clients that wait; undefined if the server does not know. */
      readonly others: number | undefined
      readonly following?: NextHolder
    }
  | { readonly kind: 'kept' }
  | Gone

/** One hold. `forceRelease` ends this hold, but no later hold of the lock. */
export interface SeenHold {
  /** The owner as the server stores it: `<clientId>:<owner>`. */
  readonly owner: string
  /** The last token of the lock. Null if the server stores none, and for a lock on a quorum. */
  readonly token: number | null
}

/**
 * The server grants all locks under one token, or it grants no lock. In a refusal, the lock at `index`
 * is not available.
 */
export type JointAnswer =
  | Granted
  | { readonly kind: 'held'; readonly ttlMs: number; readonly index: number }

/** The lease of one hold, as the client sends it in renewals. */
export interface LeaseToRenew {
  /** The hold count. A quorum uses this count when it restores the hold on a master. */
  readonly holds?: number
  readonly token?: number
  /** Returns false when the hold has ended. A quorum then does not restore the hold any more. */
  readonly isHeld?: () => boolean
  readonly rawName: string
  /** The owner as the server stores it: `<clientId>:<owner>`. */
  readonly ownerId: string
}
