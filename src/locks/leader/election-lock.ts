import type { Clock } from '../../kit/clock.ts'
import type { Hold } from '../../lease/hold.ts'
import type { Lease } from '../../lease/lease.ts'
import type { HolderFacts, LockFacts } from '../../servers/answers.ts'
import type { Subscription } from '../../servers/subscription.ts'

/** What an election needs of its lock, a fair one. */
export interface ElectionLock {
  readonly name: string
  readonly rawName: string
  readonly currentOwner: {
    /** For whom the running code holds the lock, where it runs inside of a holder. */
    leaseHolder(): object
  }
  readonly registry: {
    readonly leaseMs: number
    readonly clock: Clock
    readonly server: { lock(rawName: string): { listen(onWake: () => void): Subscription } }
    limitDrain(hold: Hold, maxDrainMs: number): void
    readonly emit: (event: 'error', error: Error) => void
    ask<T>(name: string, failed: string, call: (callMs: number) => Promise<T>): Promise<T>
  }
  using<T>(
    fn: (lease: Lease) => Promise<T> | T,
    options: { readonly waitMs: number; readonly maxHoldMs: number; readonly signal?: AbortSignal },
  ): Promise<T>
  peek(): Promise<HolderFacts>
  inspect(): Promise<LockFacts>
}
