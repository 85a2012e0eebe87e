import { HoldfastError } from '../../src/index.ts'

/** A call is repeated at most this often. */
const TRIES = 6

/**
 * Returns the error of a call that the server refuses. The last request of a call has little time. If a busy machine
 * answers it too late, the error is about the missing answer. Then the call is repeated.
 *
 * @param call starts the call, of a connected client or of a new client
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
