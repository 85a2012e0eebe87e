import { unavailableError } from '../errors.ts'
import type { Waiter } from '../waiting/waiter.ts'
import type { LocalLock } from './local-lock.ts'

const DUE = 'the watchdog thread had not been started yet'

/**
 * Begins the acquisition when the renewal thread is ready. No request is sent before that, because
 * no thread could renew the lease.
 */
export async function whenReady(
  ready: Promise<void>,
  lock: LocalLock,
  waiter: Waiter,
  start: () => void,
): Promise<void> {
  const { words } = waiter.request.kind
  lock.tasks.started()
  // The client has not asked the server yet, so the wait timeout cannot name a holder.
  waiter.notYet = (what) =>
    unavailableError(
      lock.name,
      what,
      DUE,
      undefined,
      words,
      'Its start takes a moment: wait for longer.',
    )
  try {
    await ready
    waiter.notYet = undefined
    if (!waiter.settled) start()
  } catch (error) {
    waiter.reject(error)
  }
  lock.tasks.finished()
}
