import type { Lease } from '../../lease/lease.ts'
import type { WebLockMode, WebLockRequest } from './web-lock-request.ts'

/** One lock in the result of `locks.query()`. */
export interface WebLockInfo {
  readonly name: string
  readonly mode: WebLockMode
  /** The id of this client. */
  readonly clientId: string
}

/** One call of `request` of the web locks. */
export class WebLockCall<T> {
  readonly info: WebLockInfo
  readonly #request: WebLockRequest<T>
  /** The error for the caller if the lock was lost. */
  #loss: DOMException | undefined

  constructor(request: WebLockRequest<T>, info: WebLockInfo) {
    this.#request = request
    this.info = info
  }

  /** Returns the error for the caller. If the lock was lost, the error of the callback is its cause. */
  lossWith(error: unknown): unknown {
    const loss = this.#loss
    return loss === undefined || error === loss ? error : Object.assign(loss, { cause: error })
  }

  /** Runs the callback. Rejects at once if the lease is lost. */
  run({ signal }: Lease): Promise<Awaited<T>> {
    const { name, mode } = this.info
    const untilLost = new Promise<never>((_, reject) => {
      const lost = () => {
        const text = `The web lock "${name}" was lost or stolen before its callback ended.`
        this.#loss = Object.assign(new DOMException(text, 'AbortError'), { cause: signal.reason })
        reject(this.#loss)
      }
      if (signal.aborted) lost()
      else signal.addEventListener('abort', lost, { once: true })
    })
    untilLost.catch(() => undefined)
    const result = (async () => this.#request.work({ name, mode }))()
    return Promise.race([result, untilLost])
  }
}
