import type { Lease } from '../lease/lease.ts'

const AFTER_MS = 500

const warned = new WeakSet<object>()

/**
 * Warns once for each lock object when an acquisition outside any frame waits for a lease that the
 * same object holds all the while: nested code without a frame would wait for ever.
 */
export async function warnOfSelfWait<T>(
  lock: object,
  held: Pick<Lease, 'name' | 'released'>,
  acquiring: Promise<T>,
): Promise<T> {
  const { name } = held
  const timer = setTimeout(() => {
    if (held.released || warned.has(lock)) return
    warned.add(lock)
    process.emitWarning(
      `Lock "${name}" has been waited for during ${AFTER_MS} ms by the lock object that holds it. ` +
        'Tasks that share the object exclude each other, and that is fine. If it is nested code, it ' +
        'waits for itself: put the outer code in lock.using(fn) or holdfast.run(fn), or give both ' +
        'the same owner: getLock(name, { owner: holdfast.owner() }).',
      { type: 'HoldfastWarning', code: 'HOLDFAST_SELF_WAIT' },
    )
  }, AFTER_MS).unref()
  try {
    return await acquiring
  } finally {
    clearTimeout(timer)
  }
}
