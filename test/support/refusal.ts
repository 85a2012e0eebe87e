import { HoldfastError } from '../../src/index.ts'

/** So often a call is repeated at the most. */
const TRIES = 6

/**
 * The error of a call that the server refuses. The last request of a call has little time. If a busy machine answers
 * this request too late, the error is about the missing answer instead. Then the call is repeated.
 *
 * @param call starts the call; a client that is up, or a new client
 */
export async function refusal(call: () => Promise<unknown>): Promise<HoldfastError> {
  for (let tries = 1; ; tries++) {
    const error = await call().then(
      (value) => new Error(`It was not refused: ${String(value)}`),
      (reason: unknown) => reason,
    )
    if (!(error instanceof HoldfastError)) throw error
    const wasSilent =
      error.code === 'HOLDFAST_UNAVAILABLE' &&
      /no answer within|not connected within/.test(error.message)
    if (!wasSilent || tries === TRIES) return error
  }
}
