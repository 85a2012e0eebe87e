import { Linked, LinkedList } from '../../kit/linked-list.ts'
import { LONGEST_TIMER_MS } from '../../kit/timers.ts'
import { type CallFailure, NoAnswer } from '../call-failure.ts'
import { promised, type Reply } from '../reply.ts'

/**
 * A request on one connection, from the sending until the answer or the deadline.
 *
 * @typeParam C the driver's object for the connection, such as a client of ioredis
 */
export abstract class DueCall<C> extends Linked<DueCall<C>> {
  /** @internal The connection to which the call was sent; undefined before the sending. */
  client: C | undefined
  /** @internal How long the call may take, in milliseconds. */
  timeoutMs = 0
  /** @internal The deadline, on `performance.now()`. */
  givenUpAt = 0

  /** Writes the request to the connection. */
  abstract send(client: C): Promise<unknown>
  abstract answered(reply: unknown): void
  abstract failed(failure: CallFailure): void
}

/** A command that is not a script. */
class CommandCall<C, T> extends DueCall<C> {
  readonly #send: (client: C) => Promise<T>
  readonly #reply: Reply<T>

  constructor(send: (client: C) => Promise<T>, reply: Reply<T>) {
    super()
    this.#send = send
    this.#reply = reply
  }

  send(client: C): Promise<T> {
    return this.#send(client)
  }

  answered(reply: unknown): void {
    this.#reply.answered(reply as T)
  }

  failed(failure: CallFailure): void {
    this.#reply.failed(failure)
  }
}

/** @returns the reply to a command that is not a script */
export function commandOf<C, T>(
  send: (client: C) => Promise<T>,
  submit: (call: DueCall<C>) => void,
): Promise<T> {
  return promised((reply) => submit(new CommandCall(send, reply)))
}

/** The connection of the calls. */
interface CallEvents<C> {
  /** The problem of the connection that lasts until the next answer. */
  readonly trouble: { readonly isReported: boolean; answered(): void }
  /** Called when a call got no answer before its deadline. */
  suspect(client: C): void
  /** Called when the server answered with an error. */
  refused(failure: CallFailure): void
}

/**
 * The calls of one connection that have no answer yet. Each call has a deadline, and all calls
 * share one timer.
 */
export class DueCalls<C> {
  readonly #silenceMs: number
  readonly #host: CallEvents<C>
  readonly #failureOf: (error: unknown) => CallFailure
  /** The calls whose deadline has not passed. */
  readonly #calls = new LinkedList<DueCall<C>>()
  /** The number of calls without an answer, before or after their deadline. */
  #due = 0
  /** When the present silence began, on `performance.now()`; undefined if no answer is due. */
  #silentSince: number | undefined
  /** Keeps the process alive while a call has time left. */
  #timer: NodeJS.Timeout | undefined
  #firesAt = Infinity
  #longSilence: NodeJS.Timeout | undefined
  #isGone = false
  // Waits one turn, so that Node.js first reads the answers that came while the event loop was
  // blocked.
  readonly #onTime = () => void setImmediate(this.#giveUp)

  /**
   * @param silenceMs if answers are due and none comes for this time, the client suspects the
   * connection, in milliseconds
   * @param failureOf makes the failure of a call from an error of the driver
   */
  constructor(silenceMs: number, host: CallEvents<C>, failureOf: (error: unknown) => CallFailure) {
    this.#silenceMs = silenceMs
    this.#host = host
    this.#failureOf = failureOf
  }

  get any(): boolean {
    return this.#due > 0
  }

  /** The length of the present silence, in milliseconds; 0 if no answer is due. */
  get silentMs(): number {
    return this.#silentSince === undefined ? 0 : performance.now() - this.#silentSince
  }

  /**
   * Called when the connection is gone. The calls of this connection do not count any more, because
   * the driver may never settle some of them.
   */
  forget(): void {
    this.#due = 0
    this.#silentSince = undefined
    this.#isGone = true
    clearTimeout(this.#longSilence)
    if (this.#calls.size === 0) this.#rest()
  }

  send(client: C, call: DueCall<C>, timeoutMs: number): void {
    const now = performance.now()
    const sent = call.send(client)
    this.#silentSince ??= now
    this.#isGone = false
    call.client = client
    call.timeoutMs = timeoutMs
    call.givenUpAt = now + timeoutMs
    if (this.#calls.size === 0) this.#timer?.ref()
    this.#calls.add(call)
    if (call.givenUpAt < this.#firesAt) this.#arm(call.givenUpAt, now)
    this.#due += 1
    sent.then(
      (reply) => {
        const { trouble } = this.#host
        if (trouble.isReported) trouble.answered()
        if (this.#isWaitedFor(call)) call.answered(reply)
      },
      (error: unknown) => {
        const isWaitedFor = this.#isWaitedFor(call)
        const failure = this.#failureOf(error)
        if (failure.kind === 'refused') this.#host.refused(failure)
        if (isWaitedFor) call.failed(failure)
      },
    )
  }

  /** Called once for each answer. Returns true if its call still waits. */
  #isWaitedFor(call: DueCall<C>): boolean {
    if (this.#due > 0) this.#due -= 1
    // The server has just answered. If other answers are due, a new silence begins now.
    this.#silentSince = this.#due > 0 ? performance.now() : undefined
    if (!this.#calls.has(call)) return false
    this.#calls.remove(call)
    if (this.#calls.size === 0) this.#rest()
    return true
  }

  /**
   * Called when no call is left. Keeps the timer for the next call, unless the connection is gone.
   */
  #rest(): void {
    if (!this.#isGone) {
      this.#timer?.unref()
      return
    }
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#firesAt = Infinity
  }

  #arm(at: number, now: number): void {
    clearTimeout(this.#timer)
    this.#firesAt = at
    this.#timer = setTimeout(this.#onTime, Math.min(Math.ceil(at - now), LONGEST_TIMER_MS))
    if (this.#calls.size === 0) this.#timer.unref()
  }

  readonly #giveUp = (): void => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#firesAt = Infinity
    const now = performance.now()
    const silent = new Set<C>()
    const expired: DueCall<C>[] = []
    let next = Infinity
    for (const call of [...this.#calls]) {
      const { client, givenUpAt } = call
      if (givenUpAt > now) {
        next = Math.min(next, givenUpAt)
        continue
      }
      this.#calls.remove(call)
      silent.add(client as C)
      expired.push(call)
    }
    // Checks after the callers have run, because they may send another request.
    if (silent.size > 0) setImmediate(() => this.#afterSilence(silent))
    if (next !== Infinity) this.#arm(next, now)
    for (const call of expired) {
      call.failed(new NoAnswer('unknown', `no answer within ${Math.round(call.timeoutMs)} ms`))
    }
  }

  #afterSilence(clients: ReadonlySet<C>): void {
    for (const client of clients) this.#host.suspect(client)
    const since = this.#silentSince
    if (since === undefined || this.#calls.size > 0) return
    // The silence may still be too short. If no later call comes, only this timer checks again.
    const suspectAll = () => {
      if (this.#silentSince === since) for (const client of clients) this.#host.suspect(client)
    }
    clearTimeout(this.#longSilence)
    const ms = since + 2 * this.#silenceMs - performance.now()
    this.#longSilence = setTimeout(suspectAll, Math.min(Math.max(ms, 1), LONGEST_TIMER_MS)).unref()
  }
}
