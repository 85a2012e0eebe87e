import { never } from '../../support/eventually.ts'

/** For as long as somebody who hears nothing is watched, in milliseconds. */
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
