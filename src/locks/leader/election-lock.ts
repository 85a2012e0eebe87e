import type { Clock } from '../../kit/clock.ts'
import type { Hold } from '../../lease/hold.ts'
import type { Lease } from '../../lease/lease.ts'
import type { HolderFacts, LockFacts } from '../../servers/facts.ts'
import type { Subscription } from '../../servers/subscription.ts'

/** The members of the election's fair lock that an election needs. */
export interface ElectionLock {
  readonly name: string
  readonly rawName: string
  readonly currentOwner: {
    /**
     * Returns the owner of the innermost frame that has this lock. Outside such frames, returns
     * this `currentOwner`.
     */
    leaseHolder(): object
  }
  readonly registry: {
    readonly leaseMs: number
    readonly clock: Clock
    readonly server: { lock(rawName: string): { listen(onWake: () => void): Subscription } }
    limitDrain(hold: Hold, maxDrainMs: number): void
    readonly emit: (event: 'error', error: Error) => void
    request<T>(name: string, failed: string, call: (callMs: number) => Promise<T>): Promise<T>
  }
  using<T>(
    fn: (lease: Lease) => Promise<T> | T,
    options: { readonly waitMs: number; readonly maxHoldMs: number; readonly signal?: AbortSignal },
  ): Promise<T>
  peek(): Promise<HolderFacts>
  inspect(): Promise<LockFacts>
}
