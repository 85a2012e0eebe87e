import type { Owner } from '../../owner/owner.ts'
import type { ElectionChannel } from '../../servers/election-channel.ts'
import type { Campaign } from './campaign.ts'
import type { ElectionLock } from './election-lock.ts'
import type { LeaderWatch } from './leader-watch.ts'

/** The members of the client that an election needs. */
export interface ElectionHost {
  newOwner(): Owner
  lock(owner?: Owner): ElectionLock
  channel(lock: ElectionLock): ElectionChannel
  readonly watches: Set<LeaderWatch>
  /** The running campaigns of this client, for all elections. */
  readonly campaigns: Set<Campaign>
  /**
   * True if the holder is a candidate of this client whose campaign has ended. Such a holder does
   * not lead.
   */
  isOver(holder: string): boolean
  /** Aborts when the client drains or closes. All terms must then end. */
  readonly closing: AbortSignal
}
