import type { Words } from '../../errors.ts'
import { BackgroundTasks } from '../../kit/background-tasks.ts'
import { outsideFrames } from '../../kit/frame-storage.ts'
import { within } from '../../kit/within.ts'
import { closedError } from '../../local/closed-errors.ts'
import type { WaitingEntry } from '../../local/holdings.ts'
import { finite } from '../../local/list-holdings.ts'
import type { CallFailure } from '../../servers/call-failure.ts'
import type { LatchState, RemoteLatch } from '../../servers/latch-server.ts'
import { OnceRequest } from '../../servers/once-request.ts'
import type { Limits } from '../../waiting/limits.ts'
import { RetryBudget } from '../../waiting/retry-budget.ts'
import { Awaiter } from './awaiter.ts'
import type { AwaiterOptions } from './latch-arguments.ts'
import { LatchWatch } from './latch-watch.ts'

/** The longest time in which the server may run copies of one request, in milliseconds. */
const LONGEST_KEPT_MS = 45_000

const WORDS: Words = { noun: 'Latch', unavailable: 'It is unknown if the latch is open.' }

interface NamedLatch {
  readonly name: string
  readonly rawName: string
}

/**
 * A request that changes a latch. The server counts the request once, even if it arrives several
 * times.
 */
interface LatchChange<T> {
  /** The words of the error if the change did not happen. */
  readonly failed: string
  /** The words of the error if the outcome of the change is unknown. */
  readonly unknown: string
  send(request: OnceRequest, callMs: number): Promise<T>
  /**
   * Returns the state of the latch that the answer contains; undefined if awaiters cannot use the
   * answer.
   */
  found(answer: T): LatchState | undefined
}

/** The latches of one client: the calls that await them, and the requests that change them. */
export class Latches {
  readonly #clientId: string
  readonly #limits: Limits
  readonly #watches = new Map<string, LatchWatch>()
  readonly #changes = new BackgroundTasks()
  readonly #awaited = new Set<{ name: string; waitMs: number; beganAt: number }>()
  #requests = 0
  #closed = false

  constructor(clientId: string, limits: Limits) {
    this.#clientId = clientId
    this.#limits = limits
  }

  /**
   * Sends a change, and repeats the request after failures. All copies have the same id, so the
   * server counts the change once.
   */
  change<T>(
    { name, rawName }: NamedLatch,
    { failed, unknown, send, found }: LatchChange<T>,
  ): Promise<T> {
    this.#requests += 1
    const number = this.#requests
    const keptMs = Math.min(this.#limits.outageMs, LONGEST_KEPT_MS)
    // The server stores the answer under this id. Owner ids have another form, so a later semaphore
    // with the same name cannot take this answer for its own.
    const id = `${this.#clientId}:latch:${number}`
    const request = new OnceRequest(id, keptMs, this.#limits.clock)
    const changed = this.#request(
      name,
      (callMs) => send(request, callMs),
      (failure) => {
        if (failure.kind === 'unknown') request.mayHaveRun = true
        return request.mayHaveRun ? unknown : failed
      },
    )
    this.#changes.count(changed)
    return changed.then((answer) => {
      const state = found(answer)
      if (state !== undefined) this.#watches.get(rawName)?.saw(number, state)
      return answer
    })
  }

  /**
   * Sends a request that only reads. `failed` is a part of the error text after an outage, such as
   * `not inspected`.
   */
  request<T>(name: string, failed: string, call: (callMs: number) => Promise<T>): Promise<T> {
    return this.#request(name, call, () => failed)
  }

  async await(
    { name, rawName }: NamedLatch,
    remote: RemoteLatch,
    options: AwaiterOptions,
  ): Promise<boolean> {
    this.#assertOpen(name)
    options.signal?.throwIfAborted()
    let watch = this.#watches.get(rawName)
    if (watch === undefined) {
      watch = new LatchWatch(remote, this.#limits.clock, () => this.#watches.delete(rawName))
      this.#watches.set(rawName, watch)
    }
    const { waitMs } = options
    const budget = this.#budget(name, watch, waitMs)
    const awaiter = new Awaiter(options, budget, this.#requests, watch)
    const here = watch
    outsideFrames(() => here.add(awaiter))
    const call = { name, waitMs, beganAt: this.#limits.clock.monotonic() }
    this.#awaited.add(call)
    const forget = () => this.#awaited.delete(call)
    awaiter.promise.then(forget, forget)
    return awaiter.promise
  }

  get waiting(): WaitingEntry[] {
    const now = this.#limits.clock.monotonic()
    return [...this.#awaited].map(({ name, waitMs, beganAt }) => ({
      name,
      kind: 'latch',
      owner: null,
      waitedMs: Math.round(now - beganAt),
      waitMs: finite(waitMs),
      holder: null,
    }))
  }

  /**
   * Rejects all waiting calls.
   *
   * @returns resolves when all changes are settled, at the latest after `commandTimeoutMs` plus 50
   * ms
   */
  async shutDown(): Promise<void> {
    this.#closed = true
    for (const watch of [...this.#watches.values()]) watch.rejectAll(closedError())
    await within(this.#limits.commandTimeoutMs + 50, this.#changes.quiet())
  }

  async #request<T>(
    name: string,
    call: (callMs: number) => Promise<T>,
    whatFailed: (failure: CallFailure) => string,
  ): Promise<T> {
    this.#assertOpen(name)
    return this.#budget(name).retry(call, whatFailed)
  }

  #budget(name: string, watch?: LatchWatch, waitMs = 0): RetryBudget {
    return new RetryBudget(name, this.#limits, watch?.health, WORDS, waitMs)
  }

  #assertOpen(name: string): void {
    if (this.#closed) throw closedError(name)
  }
}
