import type { Holdfast, Permit, PermitExpirableSemaphore } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import type { RedisServer } from '../support/redis-server.ts'

export const RAW = 'it'
const COUNTER = 'redisson_lock_token:{it}'
const QUEUE = 'holdfast_permit_queue:{it}'

/** Makes a semaphore with this number of permits. */
export async function withPermits(
  client: Holdfast,
  permits: number,
): Promise<PermitExpirableSemaphore> {
  const semaphore = client.getPermitExpirableSemaphore(RAW)
  await semaphore.setPermits(permits)
  return semaphore
}

export const of = (client: Holdfast) => client.getPermitExpirableSemaphore(RAW)

/** Returns the permits. Fails the test if there are none. */
export function taken(permit: Permit | null): Permit {
  if (permit === null) throw new Error('The permits were not to be had')
  return permit
}

export interface Server {
  readonly admin: RedisServer['admin']
}

/**
 * Checks that no client holds permits or waits, and that all permits are available. Only their number and the counter
 * are left.
 */
export async function allAreBack({ admin }: Server, permits: number): Promise<void> {
  const keys = async () =>
    (await lastingKeys(admin)).filter(
      (key) => key !== COUNTER && !key.startsWith('holdfast_request'),
    )
  await eventually(async () => (await keys()).join() === RAW, {
    timeoutMs: 8_000,
    message: 'nothing to be left of the semaphore but its number',
  })
  expect(await admin.get(RAW)).toBe(String(permits))
  await admin.del(RAW)
}

/** Waits until this number of clients has a place in the queue. */
export const waiting = ({ admin }: Server, clients: number) =>
  eventually(async () => Number(await admin.zcard(QUEUE)) === clients, {
    message: `${clients} client(s) to wait`,
  })

/** Waits until this number of clients listens for permits. */
export const listening = ({ admin }: Server, clients: number) =>
  eventually(async () => {
    const channels = ['holdfast_tickets:{it}', 'redisson_sc:{it}']
    const counts = (await admin.pubsub('NUMSUB', ...channels)) as (string | number)[]
    return Number(counts[1]) === clients && Number(counts[3]) === clients
  })
