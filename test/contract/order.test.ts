import type { HoldfastLock } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { describeLocks } from './lock-kinds.ts'

describeLocks(
  'the waiters',
  (stage) => {
    test('waiters acquire the lock in the order of their calls: within one client, or across clients for a fair lock', async () => {
      const locks = stage.getLocks('it', stage.fair ? 3 : 1)
      const [first] = locks as [HoldfastLock]
      const lease = await first.lock()
      const served: number[] = []
      const works: Promise<unknown>[] = []
      const inOrder = Array.from({ length: 9 }, (_, n) => n)
      for (const n of inOrder) {
        const lock = locks[n % locks.length]
        works.push((lock as HoldfastLock).using(() => served.push(n)))
        if (stage.fair) await eventually(async () => (await first.inspect()).queueLength === n + 1)
      }
      await lease.release()
      await Promise.all(works)
      expect(served).toEqual(inOrder)
    })
  },
  { isOfExclusion: true },
)
