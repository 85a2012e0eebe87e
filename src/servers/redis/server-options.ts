import type { Durability } from '../../options/durability.ts'
import type { OutageListener } from '../availability/outage.ts'
import type { RedisKinds } from './calls/redis-kind.ts'

export interface ServerOptions {
  /** How long a token counter is kept after its last use, in milliseconds; 0 means forever. */
  readonly counterMs?: number
  /** True if sharded channels may be used in a cluster that has them. */
  readonly sharded?: boolean
  /**
   * How many replicas must have a grant before it counts. Undefined means that a grant counts at
   * once.
   */
  readonly durability?: Durability | undefined
  /** All kinds except plain locks. */
  readonly kinds?: RedisKinds
  /** The label of the client, for messages on diagnostics channels. */
  readonly label?: string
  /**
   * Receives the outages of the server. If `onOutage` is left out, `onError` receives each failure.
   */
  readonly onOutage?: OutageListener
}
