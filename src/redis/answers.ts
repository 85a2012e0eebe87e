/** What an acquire or a hand-over was answered. */
export type Grant =
  | { readonly kind: 'granted'; readonly token: number }
  | { readonly kind: 'held'; readonly ttlMs: number }
  | { readonly kind: 'yielded'; readonly others: number }
  | { readonly kind: 'gone' }

/** What a release was answered. */
export type Released =
  | { readonly kind: 'freed'; readonly listeners: number }
  | { readonly kind: 'kept' }
  | { readonly kind: 'gone' }

/** One lock as the server sees it. */
export interface LockFacts {
  /** `<clientId>:<owner>`, or null when the lock is free. */
  readonly holder: string | null
  readonly holdCount: number
  /** What is left of its lease in milliseconds; null when the lock is free or never expires. */
  readonly ttlMs: number | null
  /** The last fencing token issued, or null when none is remembered. */
  readonly token: number | null
  /** Connections that listen for a release: one for each client with waiters. */
  readonly waiters: number
}

/** Which lock is to be renewed, for whom. */
export interface Seat {
  readonly key: string
  /** The owner as Redis knows it: `<clientId>:<owner>`. */
  readonly wireOwner: string
}
