import type { LockKind } from '../../local/lock-kind.ts'
import { LockWaiter } from '../../local/lock-waiter.ts'

export const plainKind: LockKind = {
  name: 'lock',
  isShared: false,
  waitsInTurn: false,
  newWaiter: (lock, request) => new LockWaiter(lock, request),
}
