import type { LockKind } from '../../local/lock-kind.ts'
import { RacingWaiter } from '../../local/racing-waiter.ts'

export const plainKind: LockKind = {
  name: 'lock',
  isShared: false,
  waitsInTurn: false,
  newWaiter: (lock, request) => new RacingWaiter(lock, request),
}
