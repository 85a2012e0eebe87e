/**
 * If no other request takes the keys, the client deletes the keys with an extra request. This
 * happens after one to two times this time, in milliseconds.
 */
const UNUSED_MS = 1_000

/**
 * The largest number of keys that a request of the semaphore carries. Lua passes at most about
 * 8,000 values.
 */
const AT_ONCE = 1_000

/**
 * The keys of requests whose answers a client has, so that the server may forget their results. The
 * next request for the same semaphore carries the keys. If no request comes soon, the keys get a
 * request of their own.
 */
export class AnsweredNames {
  readonly #forget: (keys: readonly string[]) => Promise<unknown>
  readonly #all = new Map<string, { keys: string[]; isNew: boolean }>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /**
   * @param forget deletes keys of one semaphore; its failures are ignored, because each key has an
   * expiry
   */
  constructor(forget: (keys: readonly string[]) => Promise<unknown>) {
    this.#forget = forget
  }

  add(rawName: string, key: string): void {
    if (this.#closed) return
    const those = this.#all.get(rawName)
    if (those === undefined) this.#all.set(rawName, { keys: [key], isNew: true })
    else those.keys.push(key)
    this.#timer ??= setInterval(() => this.#forgetOld(), UNUSED_MS).unref()
  }

  /** Removes and returns the keys for a request that is about to be sent. */
  takeNext(rawName: string, most = AT_ONCE): readonly string[] {
    const those = this.#all.get(rawName)
    if (those === undefined) return []
    if (those.keys.length > most) return those.keys.splice(0, most)
    this.#all.delete(rawName)
    return those.keys
  }

  /** Resolves when the server has forgotten all keys, or was not reachable. */
  async quiet(): Promise<void> {
    await Promise.all([...this.#all.keys()].map((rawName) => this.#forgetThose(rawName)))
  }

  stopTimer(): void {
    this.#closed = true
    clearInterval(this.#timer)
    this.#all.clear()
  }

  #forgetOld(): void {
    for (const [rawName, those] of this.#all) {
      if (!those.isNew) void this.#forgetThose(rawName)
      those.isNew = false
    }
    if (this.#all.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #forgetThose(rawName: string): Promise<void> {
    const keys = this.takeNext(rawName, Infinity)
    if (keys.length > 0) await this.#forget(keys).catch(() => {})
  }
}
