import { closingError } from '../local/closed-errors.ts'
import type { LeaderElection } from '../locks/leader/leader-election.ts'
import { LeaderElections } from '../locks/leader/leader-elections.ts'
import type { LeaderElectionOptions } from '../locks/leader/leader-options.ts'
import type { HoldfastLock } from '../locks/lock/holdfast-lock.ts'
import { ELECTION } from '../servers/election-channel.ts'
import type { KindDescriptor } from './kind.ts'

export interface ElectionMethods {
  /**
   * Returns an election, in which this client can be a candidate. The candidate that holds the fair lock of this name
   * leads.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` for invalid input, and with `masters`, because a majority of masters has no queue
   */
  getLeaderElection(name: string, options?: LeaderElectionOptions): LeaderElection
}

/** @internal */
export const election: KindDescriptor<ElectionMethods> = {
  names: ['getLeaderElection'],
  requests: ELECTION,
  open({ owners, backend: { registry }, label, requests, call }) {
    const elections = new LeaderElections({
      id: owners.clientId,
      label,
      lock: (name, owner) => {
        const options = owner && { owner: owner.handle }
        return call('fairLock', name, options, 'leader election') as HoldfastLock
      },
      newOwner: (suffix) => owners.next(suffix),
      channel: requests(ELECTION),
      oneServer: registry.limits.words.oneServer,
    })
    return {
      methods: { getLeaderElection: (name, options = {}) => elections.of(name, options) },
      drain: () => elections.drain(closingError()),
      shutDown: () => elections.stopWatches(),
    }
  },
}
