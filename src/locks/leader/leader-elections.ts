import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'
import type { Owner } from '../../owner/owner.ts'
import type { ElectionChannel } from '../../servers/election-channel.ts'
import { labelIn, labelSuffix } from '../../servers/owner-id.ts'
import type { Campaign } from './campaign.ts'
import type { ElectionLock } from './election-lock.ts'
import { LeaderElection } from './leader-election.ts'
import { electionLabel } from './leader-options.ts'
import type { LeaderWatch } from './leader-watch.ts'

interface ElectionClient {
  readonly id: string
  readonly label: string
  lock(name: string, owner: Owner | undefined): ElectionLock
  newOwner(suffix: string): Owner
  /** Makes the channel of an election. Undefined if the servers have no fair locks. */
  channel: ((rawName: string) => ElectionChannel) | undefined
  /**
   * The words for a client with a single server, in error messages. An election needs such a
   * client.
   */
  readonly oneServer: string
}

export class LeaderElections {
  readonly #client: ElectionClient
  readonly #watches = new Set<LeaderWatch>()
  readonly #campaigns = new Set<Campaign>()
  readonly #closing = new AbortController()

  constructor(client: ElectionClient) {
    this.#client = client
  }

  of(name: string, options: unknown): LeaderElection {
    const { label, lock, newOwner, channel, oneServer } = this.#client
    if (channel === undefined) {
      throw new InvalidArgumentError(
        `Leader election ${show(name)}: its queue needs one server, and this client has independent masters. ` +
          'Use getLock() here, and lead inside its using(): one leader at a time, in no fixed order. Or use a ' +
          `${oneServer}.`,
        name,
      )
    }
    const own = electionLabel(options, label)
    return new LeaderElection(own, {
      newOwner: () => Object.assign(newOwner(labelSuffix(own)), { label: own }),
      lock: (owner) => lock(name, owner),
      channel: ({ rawName }) => channel(rawName),
      watches: this.#watches,
      campaigns: this.#campaigns,
      isOver: (holder) => this.#isOver(holder),
      closing: this.#closing.signal,
    })
  }

  // A candidate may give up before the client receives its grant. Its owner then holds the lock
  // until a background release. Such a holder does not lead.
  #isOver(holder: string): boolean {
    if (!holder.startsWith(`${this.#client.id}:`) || labelIn(holder) === null) return false
    return ![...this.#campaigns].some(({ owner }) => owner.hasOwnerId(holder))
  }

  /**
   * Aborts the signals of all terms with this reason. Each lock is released when the function of
   * its leader has ended.
   */
  drain(reason: Error): void {
    this.#closing.abort(reason)
  }

  stopWatches(): void {
    for (const watch of this.#watches) watch.stop()
    this.#watches.clear()
  }
}
