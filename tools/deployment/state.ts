import type { CountFacts, HolderRow, LockRow, RowKind } from './rows.ts'

interface Facts {
  readonly kind: RowKind
  readonly holders: readonly Omit<HolderRow, 'process'>[]
  /** The mode of a read-write lock, as stored in its hash. Undefined for other locks. */
  readonly mode: string | undefined
  readonly count: CountFacts | null
  /** False if the number of permits of a semaphore is not set. True for other kinds. */
  readonly isSet: boolean
}

type State = Pick<LockRow, 'state' | 'stateText'>

/** Returns the state of a lock, semaphore, latch or election, as a code and in words. */
export function stateOf(facts: Facts): State {
  const { kind, holders, count, isSet } = facts
  if (kind === 'latch') return latchState(count?.toGo ?? 0)
  if (kind === 'permits' || kind === 'semaphore') {
    return isSet && count !== null
      ? permitState(count)
      : { state: 'free', stateText: 'no permits set' }
  }
  const isFree = holders.length === 0
  if (kind === 'election') {
    return isFree
      ? { state: 'free', stateText: 'no leader' }
      : { state: 'held', stateText: 'leader' }
  }
  if (isFree) return { state: 'free', stateText: 'free' }
  if (kind === 'lock') return { state: 'held', stateText: 'held' }
  return facts.mode === 'write'
    ? { state: 'write', stateText: 'write' }
    : { state: 'read', stateText: holders.length === 1 ? 'read' : `read by ${holders.length}` }
}

function latchState(toGo: number): State {
  return toGo > 0
    ? { state: 'closed', stateText: `closed, ${toGo} to go` }
    : { state: 'free', stateText: 'open' }
}

/**
 * A semaphore with leases is held while any permit is taken. For a semaphore without leases, the
 * number of taken permits is unknown. Such a semaphore is held while no permit is available.
 */
function permitState({ available, taken }: CountFacts): State {
  if (taken !== null) {
    const total = available + taken
    return { state: taken > 0 ? 'held' : 'free', stateText: `${taken} of ${total} taken` }
  }
  if (available > 0) return { state: 'free', stateText: `${available} available` }
  return {
    state: 'held',
    stateText:
      available === 0
        ? 'none available'
        : `none available, ${-available} more taken than there are`,
  }
}
