import type { LeaseToRenew } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import type { RecordStore } from '../record-store.ts'
import type { Remaining } from '../remaining.ts'
import type { RenewedLease } from '../renewed-lease.ts'
import { changeRecords, type OpenRecord } from './open-record.ts'

/**
 * Renews several leases in one request.
 *
 * @param renew renews the lease of one owner, and returns the remaining time of the lease
 * @returns for each lease its remaining time, `gone`, or the failure of the request
 */
export function renewRecords(
  store: RecordStore,
  leases: readonly LeaseToRenew[],
  callMs: number,
  renew: (record: OpenRecord, owner: string) => Remaining,
): Promise<RenewedLease[]> {
  const names = leases.map(({ rawName }) => rawName)
  const renewed = changeRecords(store, names, callMs, (recordOf) =>
    leases.map(({ rawName, ownerId }) => renew(recordOf(rawName), ownerId)),
  )
  return renewed.catch((failure: CallFailure) => leases.map(() => failure))
}

/** Returns one group with the indices of all locks, because one request can handle all locks. */
export function oneGroup(locks: readonly object[]): number[][] {
  return [[...locks.keys()]]
}
