import type { ServerKind } from './server-kind.ts'

/**
 * One rate limiter on a server. Each call settles within its `callMs`. A failed call rejects with a
 * `CallFailure`.
 */
export interface RemoteRate {
  acquire(request: RateRequest, callMs: number): Promise<RateAnswer>
  /** Gives back a grant whose time has not come. A repeat changes nothing. */
  giveBack(grant: RateGrant, callMs: number): Promise<void>
  inspect(callMs: number): Promise<RateFacts>
  /** Deletes the grants whose time has come. */
  reset(callMs: number): Promise<void>
}

/** In each interval of `perMs` milliseconds, grants of at most `permits` permits count. */
export interface RateLimit {
  readonly permits: number
  readonly perMs: number
}

export interface RateRequest extends RateLimit {
  /** The id of the call. No other call has this id. */
  readonly id: string
  readonly cost: number
  /**
   * The longest wait in milliseconds; '' for no limit. -1 means that the server only looks for the
   * grant of an earlier copy.
   */
  readonly mostMs: number | ''
  /** True if an earlier copy of the request may have been granted. */
  readonly again: boolean
}

export type RateAnswer =
  /** The call has its permits after `waitUs` µs. `atUs` is the time of the grant on the server. */
  | { readonly kind: 'granted'; readonly waitUs: number; readonly atUs: number }
  /** The call would have to wait for `waitUs` µs, and has no permits. */
  | { readonly kind: 'refused'; readonly waitUs: number }

export interface RateGrant {
  readonly id: string
  readonly atUs: number
  readonly cost: number
}

/** A rate limiter, as the server stores it. */
export interface RateFacts {
  /** The limit of the last grant; null if no grant counts. */
  readonly permits: number | null
  readonly perMs: number | null
  /** How many permits count in the interval that ends now. */
  readonly used: number
  /** How many calls wait for the time of their grant. */
  readonly waiting: number
  /** How long a call for one permit would wait, in µs. */
  readonly waitUs: number
}

export const RATE: ServerKind<(rawName: string) => RemoteRate> = {
  name: 'rate',
  what: 'a rate limiter',
}
