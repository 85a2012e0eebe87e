import { subscribe as listen, unsubscribe } from 'node:diagnostics_channel'
import type {
  AcquireFact,
  HoldFact,
  OutageFact,
  ReleaseFact,
  RenewFact,
  SettledFact,
} from '../../index.ts'

interface Traced {
  readonly acquire: AcquireFact
  readonly hold: HoldFact
  readonly release: ReleaseFact
  readonly renew: RenewFact
  readonly outage: OutageFact
}

/** What to do when one begins, and when it ends, however it does: the same object both times. */
type Handlers = {
  readonly [K in keyof Traced]?: {
    start?(fact: Traced[K]): void
    end?(fact: Traced[K]): void
  }
} & { readonly settled?: (fact: SettledFact) => void }

/**
 * Hears of what the clients of this process do. What a handler throws is dropped: nothing here is worth a lock.
 *
 * @returns ends it
 */
export function subscribe({ settled, ...traced }: Handlers): () => void {
  const endings: (() => void)[] = []
  const on = (name: string, handler: ((fact: never) => void) | undefined) => {
    if (handler === undefined) return
    const guarded = (fact: unknown) => {
      try {
        handler(fact as never)
      } catch {
        // Telemetry that fails is no reason to fail a lock.
      }
    }
    // By name: that keeps the channel from the garbage collector for as long as it has a subscriber.
    listen(name, guarded)
    endings.push(() => unsubscribe(name, guarded))
  }
  for (const [name, handlers] of Object.entries(traced)) {
    on(`tracing:holdfast:${name}:start`, handlers.start)
    on(`tracing:holdfast:${name}:asyncEnd`, handlers.end)
  }
  on('holdfast:settled', settled)
  return () => {
    for (const end of endings.splice(0)) end()
  }
}
