import { WaitTimeoutError } from '../../waiting/wait-timeout-error.ts'
import { permitsIn } from './semaphore-words.ts'
import type { WhyNoPermits } from './why-no-permits.ts'

/**
 * Makes the error of a call that did not acquire its permits within `waitMs`.
 *
 * @param why the explanation from the last refusal; undefined if there was no recent refusal
 */
export function permitsTimeout(
  name: string,
  { permits, waitMs }: { readonly permits: number; readonly waitMs: number },
  waitedMs: number,
  why: WhyNoPermits | undefined,
): WaitTimeoutError {
  const waited = `not acquired within ${waitMs} ms (waited ${Math.round(waitedMs)} ms)`
  const semaphore = `Semaphore "${name}": `
  const said = why === undefined ? 'why() shows the holders.' : why.text.slice(semaphore.length)
  const turn = why && why.available >= permits ? ' Other callers have waited for longer.' : ''
  const step =
    why?.outcome === 'unset'
      ? ''
      : ' Try again later, or use a longer `waitMs`. Calls of tryAcquire() and tryUsing() do not throw this error.'
  return new WaitTimeoutError(
    `${semaphore}${permitsIn(permits)} ${waited}. ${said}${turn}${step}`,
    name,
    waitedMs,
    why,
  )
}
