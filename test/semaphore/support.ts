import type { Holdfast, Semaphore } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, type Rig } from '../support/fault-rig.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { atEnd } from '../support/lifetime.ts'

/** A semaphore stays until it is deleted. So the test deletes it after its clients are closed. */
export function semaphoreRig(): Rig {
  const rig = faultRig()
  beforeEach(() => {
    atEnd(() => rig.server.admin.del('it').then(() => undefined), { beforeCheck: true })
  })
  return rig
}

export const semaphoreOf = (client: Holdfast): Semaphore => client.getSemaphore('it')

/** Waits until this number of clients has a place in the queue. */
export const queued = (rig: Rig, clients: number) =>
  eventually(async () => (await placesIn(rig)).length === clients, {
    message: `${clients} clients that wait`,
  })

export const placesIn = (rig: Rig): Promise<string[]> =>
  rig.server.admin.zrange('holdfast_permit_queue:{it}', '0', '-1')

/** Waits until this number of clients listens, so that no message is lost. */
export const listening = (rig: Rig, clients: number, channel = 'holdfast_tickets:{it}') =>
  eventually(
    async () => {
      const [, count] = (await rig.server.admin.pubsub('NUMSUB', channel)) as [string, number]
      return Number(count) === clients
    },
    { message: `${clients} clients that listen` },
  )

/** Returns all keys of requests and of waiters in Redis. */
export const leftIn = async (rig: Rig): Promise<string[]> =>
  (await lastingKeys(rig.server.admin, 'holdfast_*')).sort()

/** Returns how often scripts have run since the server started. */
export async function scriptsRun(rig: Rig): Promise<number> {
  const info = await rig.server.admin.info('commandstats')
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0)
}

/**
 * Returns how long it takes to wake a waiter, in milliseconds. This is the shortest of a few tries, because other work
 * of the machine makes tries longer. Without a message, a waiter checks again after a second.
 */
export async function leastMs(once: () => Promise<number>): Promise<number> {
  let least = Infinity
  for (let i = 0; i < 5 && least > 500; i++) least = Math.min(least, await once())
  return least
}
