import { refuseDetached } from '../kit/handle.ts'
import { show } from '../kit/show.ts'
import { type CountDownLatch, HoldfastCountDownLatch } from '../locks/latch/count-down-latch.ts'
import { Latches } from '../locks/latch/latches.ts'
import { LATCH } from '../servers/latch-server.ts'
import { assertAlone, type KindDescriptor, needsOneServer } from './kind.ts'

export interface LatchMethods {
  /**
   * Returns a count-down latch, for which many callers can wait. The latch opens when its count reaches zero.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` for an invalid name, and with `masters`, because one server must hold the count
   */
  getCountDownLatch(name: string): CountDownLatch
}

/** @internal */
export const latch: KindDescriptor<LatchMethods> = {
  names: ['getCountDownLatch'],
  requests: LATCH,
  open({ owners: { clientId }, backend: { registry }, requests, rawName }) {
    const remoteOf = requests(LATCH)
    const latches = new Latches(clientId, registry.limits)
    const getCountDownLatch = (name: string, ...others: unknown[]) => {
      const key = rawName(name, 'latch')
      assertAlone('getCountDownLatch', others, 'trySetCount() sets its count.')
      if (remoteOf === undefined) {
        throw needsOneServer(
          `Latch ${show(name)}: its count needs one server`,
          'Use a',
          name,
          registry.limits.words,
        )
      }
      return new HoldfastCountDownLatch(name, key, remoteOf(key), latches)
    }
    return {
      methods: { getCountDownLatch },
      holdings: () => ({ waiting: latches.waiting }),
      shutDown: () => latches.shutDown(),
    }
  },
}

refuseDetached(HoldfastCountDownLatch, 'latch')
