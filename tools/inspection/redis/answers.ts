import type { RedisCommand } from '../../servers/open-server.ts'

/** Requests by name. `Answers` has each answer under the same name. */
export type Requests = Readonly<Record<string, RedisCommand>>

/** The facts about one name from the first requests. Further requests depend on these facts. */
export interface FoundKey {
  readonly key: string
  readonly type: string
  /** The last token of the lock. Null if the server has no token. */
  readonly token: number | null
  /** The length of the queue of a fair lock. */
  readonly queued: number
  /** The server time, in milliseconds. */
  readonly nowMs: number
  readonly isCluster: boolean
  /** True if the caller wants everything about this lock, and not only its row. */
  readonly inFull: boolean
}

/**
 * Returns the value of one reply, or `otherwise` if the value is missing or the key has another
 * type. Throws every other error.
 */
export function reply<T>(one: unknown, otherwise: T): T {
  if (one instanceof Error) {
    if (/^WRONGTYPE/.test(one.message)) return otherwise
    throw one
  }
  return one === null || one === undefined ? otherwise : (one as T)
}

/**
 * Like {@link reply}, but returns `otherwise` for every error, because some servers or logins
 * refuse the command.
 */
export function replyIfAny<T>(one: unknown, otherwise: T): T {
  return one instanceof Error ? otherwise : reply(one, otherwise)
}

/** Splits a list of alternating names and values into pairs. */
export function pairs(list: readonly string[]): [string, string][] {
  return list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1] ?? '']] : []))
}

/** The server time in milliseconds, from the reply of `TIME`. */
export function timeMsOf(time: unknown): number {
  const [seconds, micros] = reply<string[]>(time, [])
  return Number(seconds) * 1e3 + Number(micros) / 1e3
}

/**
 * The answers of one server to all requests about one name. The kind of the name is unknown at
 * first, so each kind of lock adds its own requests.
 */
export class Answers {
  readonly found: FoundKey
  /** True for independent masters, whose tokens are counts and not times. */
  readonly isQuorum: boolean
  readonly #replies = new Map<string, unknown>()

  constructor(found: FoundKey, isQuorum: boolean) {
    this.found = found
    this.isQuorum = isQuorum
  }

  add(name: string, answer: unknown): void {
    this.#replies.set(name, answer)
  }

  /**
   * Returns an answer as a list of texts. A hash becomes a list of alternating fields and values.
   */
  list(name: string): readonly string[] {
    return reply(this.#replies.get(name), [])
  }

  bytes(name: string): readonly Buffer[] {
    return reply(this.#replies.get(name), [])
  }

  text(name: string): string | null {
    const text = reply<string | number | Buffer | null>(this.#replies.get(name), null)
    return text === null ? null : String(text)
  }

  number(name: string): number {
    return Number(this.text(name) ?? 0)
  }

  /**
   * Reads the reply of `PTTL`.
   *
   * @returns the remaining time in milliseconds; null if the key never expires, and undefined if
   * there is no such key
   */
  leftMs(name: string): number | null | undefined {
    const ttl = reply<number>(this.#replies.get(name), -2)
    return ttl === -2 ? undefined : ttl === -1 ? null : ttl
  }

  /** The number of listeners of a channel. 0 if the login may not count listeners. */
  listeners(name: string): number {
    return Number(replyIfAny<readonly unknown[]>(this.#replies.get(name), ['', 0])[1])
  }

  isRefused(name: string): boolean {
    return this.#replies.get(name) instanceof Error
  }
}
