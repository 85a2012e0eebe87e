import type { JointAnswer } from '../answers.ts'
import { endsInMs } from '../remaining.ts'
import { refuseReadWrite } from './kind-of-lock.ts'
import type { MemoryLockServer } from './memory-server.ts'

/**
 * Acquires all of the locks, or none. If the owners already hold all of them, only lengthens the
 * leases.
 */
export function acquireAll(
  { server, counterMs }: { readonly server: MemoryLockServer; readonly counterMs: number },
  locks: readonly { readonly rawName: string; readonly owner: string }[],
  leaseMs: number,
  now: number,
): JointAnswer {
  const all = locks.map(({ rawName, owner }) => ({ owner, record: server.record(rawName, now) }))
  const isOwn = all.map(({ owner, record }) => record.heldBy(owner) !== null)
  const taken = all.findIndex(({ record }, n) => {
    refuseReadWrite(record)
    return record.holder !== null && !isOwn[n]
  })
  if (taken !== -1) {
    const ttlMs = endsInMs(all[taken]?.record.ttlMs(now) ?? 0)
    return { kind: 'held', ttlMs, index: taken }
  }
  const missing = isOwn.indexOf(false)
  // The owners hold only some of the locks, from an earlier request. A new token would end these
  // holds, so the request is refused.
  if (missing !== -1 && isOwn.includes(true)) {
    return { kind: 'held', ttlMs: Infinity, index: missing }
  }

  const last = Math.max(...all.map(({ record }) => record.lastToken))
  const isRepeat = missing === -1 && last > 0
  const token = isRepeat ? last : Math.max(last + 1, server.tokenFloor(now))
  for (const { owner, record } of all) {
    if (missing !== -1) record.give(owner, now + leaseMs)
    record.lengthen(leaseMs, counterMs, now)
    record.setCounter(token, leaseMs, counterMs, now)
  }
  return { kind: 'granted', token, reserved: 0 }
}
