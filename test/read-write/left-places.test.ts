import type { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, outcome } from '../support/fault-rig.ts'
import { bothPlaces } from './read-write-places.ts'

const rig = faultRig()
const places = bothPlaces(rig)

/** A place in the queue expires after 3 s. So an earlier end comes from a request of the client. */
const TOLD_MS = 1_000

const sides = ['readLock', 'writeLock', 'upgradableLock'] as const

/**
 * The client has held the lock for long while another client waited. So it lets other clients request the lock first
 * for a while.
 */
async function isPolite(client: Holdfast, other: Holdfast) {
  const own = await client.getReadWriteLock('it').writeLock().lock()
  const following = other.getReadWriteLock('it').writeLock().lock()
  const lock = client.getReadWriteLock('it')
  await eventually(async () => (await lock.inspect()).waitingToWrite.length === 1)
  await new Promise((resolve) => setTimeout(resolve, 300))
  await own.release()
  return following
}

describe.each(places)('%s', (_, newClient) => {
  test.each(sides)(
    'a client leaves the queue when its last waiter for the %s gives up before it sent a request',
    async (side) => {
      const [client, other] = [newClient(), newClient()]
      const holding = await isPolite(client, other)
      const lock = client.getReadWriteLock('it')
      const waiting = async () => {
        const { waitingToRead, waitingToWrite } = await lock.inspect()
        return waitingToRead.length + waitingToWrite.length
      }
      const leaving = [new AbortController(), new AbortController()]
      const calls = leaving.map(({ signal }) => outcome(lock[side]().lock({ signal })))
      await eventually(async () => (await waiting()) === 1)
      leaving[0]?.abort()
      // The second call is now the first of its client, and is about to send a request.
      for (let turn = 0; turn < 10; turn++) await undefined
      leaving[1]?.abort()
      await Promise.all(calls)
      await eventually(async () => (await waiting()) === 0, { timeoutMs: TOLD_MS })
      await holding.release()
    },
  )
})
