/** Nobody has used a name for so long, in milliseconds: then it is forgotten by a request of its own. */
const UNUSED_MS = 1_000

/** So many go with one request: Lua passes no more than about 8,000 values. */
const AT_ONCE = 1_000

/**
 * The keys of requests whose answers a client has: the server need not remember them any longer. They go with
 * the next request for the same semaphore, or by themselves where there is none soon.
 */
export class AnsweredNames {
  readonly #forget: (keys: readonly string[]) => Promise<unknown>
  readonly #all = new Map<string, { keys: string[]; isNew: boolean }>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /** @param forget deletes keys of one semaphore; its failures are nobody's, for all of them have an expiry */
  constructor(forget: (keys: readonly string[]) => Promise<unknown>) {
    this.#forget = forget
  }

  add(rawName: string, key: string): void {
    if (this.#closed) return
    const those = this.#all.get(rawName)
    if (those === undefined) this.#all.set(rawName, { keys: [key], isNew: true })
    else those.keys.push(key)
    this.#timer ??= setInterval(() => this.#look(), UNUSED_MS).unref()
  }

  /** Its answer was of no use, and is asked for again. */
  remove(rawName: string, key: string): void {
    const those = this.#all.get(rawName)
    if (those === undefined) return
    const at = those.keys.indexOf(key)
    if (at !== -1) those.keys.splice(at, 1)
  }

  /** Those that go with a request that is about to be sent. */
  take(rawName: string, most = AT_ONCE): readonly string[] {
    const those = this.#all.get(rawName)
    if (those === undefined) return []
    if (those.keys.length > most) return those.keys.splice(0, most)
    this.#all.delete(rawName)
    return those.keys
  }

  /** Resolves when all are forgotten, or nobody could be told. */
  async quiet(): Promise<void> {
    await Promise.all([...this.#all.keys()].map((rawName) => this.#forgetThose(rawName)))
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
    this.#all.clear()
  }

  #look(): void {
    for (const [rawName, those] of this.#all) {
      if (!those.isNew) void this.#forgetThose(rawName)
      those.isNew = false
    }
    if (this.#all.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #forgetThose(rawName: string): Promise<void> {
    const keys = this.take(rawName, Infinity)
    if (keys.length > 0) await this.#forget(keys).catch(() => {})
  }
}
