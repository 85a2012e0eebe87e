/**
 * The interval at which the client looks for old keys, in milliseconds. If no request has carried a
 * key for one interval, the client deletes the key with an extra request.
 */
const UNUSED_MS = 1_000

/** The largest number of these keys in one request of a script. Lua passes at most about 8,000 values. */
const AT_ONCE = 1_000

/**
 * The keys of results that the server may forget, because the client has the answers. The next
 * request for the same semaphore carries the keys. If no request follows soon, the client sends an
 * extra request.
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
