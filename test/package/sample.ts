// Code of a user. It is type-checked against the packed package, but never run.

import { Holdfast, type LeaderElection, type LeaderInfo, ResignedError, type Term } from 'holdfast'
import { createMemoryServer, type MemoryServer } from 'holdfast/testing'
import { Redis } from 'ioredis'

const holdfast = new Holdfast({ redis: 'redis://127.0.0.1:6379' })
export const others = [
  new Holdfast({ redis: { host: '127.0.0.1', port: 6379 } }),
  new Holdfast({ redis: new Redis(), leaseMs: 10_000, keyPrefix: 'app:' }),
]

export async function work(): Promise<number> {
  const lock = holdfast.getLock('order:1001')

  await lock.lock()
  await lock.unlock()

  await holdfast.run(async () => {
    await lock.lock(10_000)
    await lock.unlock()
  })

  const maybe = await lock.tryLock(5_000, 30_000)
  if (maybe !== null) await maybe.release()
  // @ts-expect-error: not acquired is null, and must be looked at
  await (await lock.tryLock()).release()

  const answer: number = await lock.using(async (lease) => {
    lease.assertValid()
    const signal: AbortSignal = lease.signal
    return signal.aborted ? 0 : lease.token
  })

  await using lease = await lock.lock({ signal: AbortSignal.timeout(1_000) })
  await holdfast.close()
  return answer + lease.remaining()
}

export async function elect(signal: AbortSignal): Promise<string> {
  const election: LeaderElection = holdfast.getLeaderElection('billing', { label: 'here' })
  election.on('changed', (leader: LeaderInfo | null) => console.log(leader?.label, leader?.token))
  // @ts-expect-error: there is no such event
  election.on('elected', () => undefined)
  const led: string = await election.lead(
    async (term: Term) => (term.signal.reason instanceof ResignedError ? 'resigned' : 'done'),
    { signal, again: true },
  )
  const handedOver: boolean = await election.resign()
  return `${led} ${handedOver} ${(await election.inspect()).candidates[0]?.waitedMs}`
}

export async function awaitAll(): Promise<boolean> {
  const latch = holdfast.getCountDownLatch('import:42')
  await latch.trySetCount(2)
  // @ts-expect-error: it takes a count, and no time
  await latch.trySetCount(2, 5)
  // @ts-expect-error: it counts down by one
  await latch.countDown(2)
  // @ts-expect-error: nor does it count for others
  await latch.delete(2)
  // @ts-expect-error: its options are an object
  await latch.await(500)
  const left: number = await latch.countDown()
  const { round } = await latch.inspect()
  // @ts-expect-error: it is null where the latch is open, and must be looked at
  await latch.countDown({ round })
  if (round === null) return latch.await({ waitMs: Infinity })
  // @ts-expect-error: null says that the round was over
  const leftOfRound: number = await latch.countDown({ round })
  return left === leftOfRound || latch.await({ round, waitMs: 500 })
}

export async function inMemory(server: MemoryServer = createMemoryServer()): Promise<boolean> {
  const [one, two]: Holdfast[] = [server.newClient(), server.newClient({ leaseMs: 500 })]
  // @ts-expect-error: it has no server of Redis
  server.newClient({ redis: 'redis://127.0.0.1:6379' })
  await one?.getLock('it').lock()
  return (await two?.getFairLock('it').tryLock()) === null
}
