import type { Waiter } from '../waiting/waiter.ts'
import type { LocalLock } from './local-lock.ts'

/** The waiters that have asked the client of a holder to free a kept lock. Each waiter asks once. */
const asked = new WeakSet<Waiter>()

/**
 * Asks the client of the holder to free the lock if that client keeps the lock without use. Calls `woken` of the waiter
 * after the answer.
 *
 * @param waiter a waiter that gives up after one refusal
 * @param holder the holder in the refusal
 * @returns false if the waiter has asked before, if it is part of a joint request, or if no other client can keep the
 *   lock
 */
export function askKeeper(
  { rawName, services }: LocalLock,
  waiter: Waiter & { woken(): void },
  holder = '',
): boolean {
  if (waiter.request.together !== undefined || asked.has(waiter)) return false
  const freed = services.revocations.freeKept(rawName, holder)
  if (freed === undefined) return false
  asked.add(waiter)
  void freed.then(() => waiter.woken())
  return true
}
