import { refuseDetached } from '../kit/handle.ts'
import { show } from '../kit/show.ts'
import { Barriers } from '../locks/barrier/barriers.ts'
import { type CyclicBarrier, HoldfastCyclicBarrier } from '../locks/barrier/cyclic-barrier.ts'
import { BARRIER } from '../servers/barrier-server.ts'
import { assertAlone, type KindDescriptor, needsOneServer } from './kind.ts'

export interface BarrierMethods {
  /**
   * Returns a cyclic barrier, at which several parties wait for each other. When all parties have arrived, they all
   * continue, and the next round begins.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` for an invalid name, and with `masters`, because one server must count the parties
   */
  getCyclicBarrier(name: string): CyclicBarrier
}

/** @internal */
export const barrier: KindDescriptor<BarrierMethods> = {
  names: ['getCyclicBarrier'],
  requests: BARRIER,
  open({ owners: { clientId }, backend: { registry }, requests, rawName }) {
    const remoteOf = requests(BARRIER)
    const barriers = new Barriers(clientId, registry.leaseMs, registry.limits)
    const getCyclicBarrier = (name: string, ...others: unknown[]) => {
      const key = rawName(name, 'barrier')
      assertAlone('getCyclicBarrier', others, 'Pass the number of parties to await({ parties }).')
      if (remoteOf === undefined) {
        throw needsOneServer(
          `Barrier ${show(name)}: its parties need one server`,
          'Use a',
          name,
          registry.limits.words,
        )
      }
      return new HoldfastCyclicBarrier(name, remoteOf(key), barriers)
    }
    return {
      methods: { getCyclicBarrier },
      holdings: () => ({ waiting: barriers.waiting }),
      shutDown: () => barriers.shutDown(),
    }
  },
}

refuseDetached(HoldfastCyclicBarrier, 'barrier')
