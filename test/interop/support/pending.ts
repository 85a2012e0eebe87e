import { setTimeout as pause } from 'node:timers/promises'
import { eventually, never } from '../../support/eventually.ts'

/** Longer than the pause of any waiter who is not sure that it hears everything, in milliseconds. */
const QUIET_MS = 400

/** Resolves when nothing has been counted for a while, because all waiters sleep. */
export async function isQuiet(count: () => Promise<number>): Promise<void> {
  await eventually(
    async () => {
      const before = await count()
      await pause(QUIET_MS)
      return (await count()) === before
    },
    { timeoutMs: 10_000, message: 'those who wait to fall asleep' },
  )
}

/** The time for which a promise must stay pending, in milliseconds. */
const DEAF_MS = 500

/** Watches for a while that the promise is not settled. */
export async function staysPending(promise: Promise<unknown>): Promise<void> {
  let settled = false
  const settle = () => {
    settled = true
  }
  promise.then(settle, settle)
  await never(() => settled, DEAF_MS)
}
