import type { WaitingForPermits } from '../../src/index.ts'
import { type BareWaiter, holderOf } from './concluded.ts'
import type { FreeFacts, KindView, PageWords, StateFacts } from './kind.ts'

/** The state of a semaphore whose number of permits is not set. */
const NO_PERMITS = 'no permits set'

/** Semaphores whose permits have leases. */
export const permits: KindView<'permits'> = {
  kind: 'permits',
  inErrors: 'a semaphore with leases',
  async read(client, name) {
    const found = await client.getPermitExpirableSemaphore(name).inspect()
    const { permits: total, available, taken, holders, waiting } = found
    if (total === null && waiting.length === 0) return null
    return {
      holders: holders.flatMap(({ owner, ids, ttlMs, ageMs }) =>
        owner === null ? [] : [{ ...holderOf(owner, ids.length, ttlMs, ageMs), permits: ids }],
      ),
      queue: waiting.map(waiterForPermits),
      count: { available, taken, toGo: null },
      isSet: total !== null,
    }
  },
  hasFence: false,
  holds: { permits: { endedBy: [], hidesOwners: true } },
  stateOf: permitState,
  lines({ count, stateText }) {
    if (count === null || stateText === NO_PERMITS) return []
    return [
      ['available', `${count.available}`],
      ['taken', `${count.taken ?? 0}`],
    ]
  },
  toUse: toUsePermits,
  whenFree: 'no permit is taken',
  endOfHold: 'A permit is available again when it is released, or when its lease ends.',
  ofUnknown: (owner, wait) =>
    `The lease of ${owner} has ${wait} left, unless it is renewed. Its process is unknown.`,
  ownerRefusal(name, owner) {
    if (isPermitOwner(owner)) return undefined
    return `For permits of ${name}, give an owner (<clientId>:<n>:<permits>) or the id of one permit (32 hex digits); got ${JSON.stringify(owner)}.`
  },
  page: {
    ...permitPage(),
    what: 'permits',
    it: 'permits are',
    holdsPermits: true,
    // A permit may have no lease on purpose.
    endless: 'warn',
  },
}

const isPermitOwner = (text: string): boolean =>
  /^[\w-]{21}:\d+:\d+$/.test(text) || /^[0-9a-f]{32}$/.test(text)

export function toUsePermits({ stateText }: Pick<FreeFacts, 'stateText'>): string | undefined {
  if (stateText !== NO_PERMITS) return undefined
  return 'The number of permits is not set: call trySetPermits(n).'
}

export const wantedPermits = (count: number): string => `${count} permit${count === 1 ? '' : 's'}`

export function waiterForPermits({ client, waitedMs, permits }: WaitingForPermits): BareWaiter {
  return { owner: client, waitedMs, isDead: false, wants: wantedPermits(permits) }
}

export function permitPage(): Partial<PageWords> {
  const text = 'but the number of permits is not set: call trySetPermits(n).'
  return { unusable: { stateText: NO_PERMITS, text } }
}

/**
 * Returns the state of a semaphore. With leases, the state is `held` while any permit is taken.
 * Without leases, the number of taken permits is unknown. Then the state is `held` while no permit
 * is available.
 */
export function permitState({ count, isSet }: StateFacts) {
  if (!isSet || count === null) return { state: 'free', stateText: NO_PERMITS } as const
  const { available, taken } = count
  if (taken !== null) {
    const stateText = `${taken} of ${available + taken} taken`
    return { state: taken > 0 ? 'held' : 'free', stateText } as const
  }
  if (available > 0) return { state: 'free', stateText: `${available} available` } as const
  return {
    state: 'held',
    stateText:
      available === 0
        ? 'none available'
        : `none available, ${-available} more taken than there are`,
  } as const
}
