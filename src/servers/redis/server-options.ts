import type { Durability } from '../../options/durability.ts'
import type { OutageListener } from '../outage.ts'

/** How one server is used. */
export interface ServerOptions {
  /** How long a token counter outlives its last use, in milliseconds; 0 keeps it for good. */
  readonly counterMs?: number
  /** Whether a cluster that has sharded channels is to use them. */
  readonly sharded?: boolean
  /** On which replicas a grant has to be before it counts. */
  readonly durability?: Durability | undefined
  /** What the facts of its client are told with. */
  readonly label?: string
  /** Hears of outages; where it is left out, `onError` hears of each failure. */
  readonly onOutage?: OutageListener
}
