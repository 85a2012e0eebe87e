import { subscribe as listen, unsubscribe } from 'node:diagnostics_channel'
import type {
  AcquireFact,
  HoldFact,
  KeepFact,
  OutageFact,
  ReleaseFact,
  RenewFact,
  SettledFact,
} from '../../index.ts'

interface Traced {
  readonly acquire: AcquireFact
  readonly hold: HoldFact
  readonly release: ReleaseFact
  readonly keep: KeepFact
  readonly renew: RenewFact
  readonly outage: OutageFact
}

/**
 * The functions that receive the facts. `start` and `finish` of one operation receive the same
 * object. `finish` is called after every outcome.
 */
type Handlers = {
  readonly [K in keyof Traced]?: {
    start?(fact: Traced[K]): void
    finish?(fact: Traced[K]): void
  }
} & { readonly settled?: (fact: SettledFact) => void }

/**
 * Calls the handlers for all activity of the clients in this process. Ignores the errors of
 * handlers.
 *
 * @returns a function that ends the subscription
 */
export function subscribe({ settled, ...traced }: Handlers): () => void {
  const endings: (() => void)[] = []
  const on = (name: string, handler: ((fact: never) => void) | undefined) => {
    if (handler === undefined) return
    const guarded = (fact: unknown) => {
      try {
        handler(fact as never)
      } catch {
        // Failing telemetry must not break a lock.
      }
    }
    // A subscription by name keeps the channel in memory. Otherwise the channel could be
    // garbage-collected together with its subscription.
    listen(name, guarded)
    endings.push(() => unsubscribe(name, guarded))
  }
  for (const [name, handlers] of Object.entries(traced)) {
    on(`tracing:holdfast:${name}:start`, handlers.start)
    on(`tracing:holdfast:${name}:asyncEnd`, handlers.finish)
  }
  on('holdfast:settled', settled)
  return () => {
    for (const stop of endings.splice(0)) stop()
  }
}
