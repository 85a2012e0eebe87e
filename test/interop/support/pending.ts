import { setTimeout as pause } from 'node:timers/promises'
import { eventually, never } from '../../support/eventually.ts'

/** In milliseconds: longer than the pause between two checks of a waiter whose subscription is not confirmed. */
const QUIET_MS = 400

/** Resolves when the count has not changed for a while, because all waiters sleep. */
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

/** Checks for a while that the promise does not settle. */
export async function staysPending(promise: Promise<unknown>): Promise<void> {
  let settled = false
  const settle = () => {
    settled = true
  }
  promise.then(settle, settle)
  await never(() => settled, DEAF_MS)
}
