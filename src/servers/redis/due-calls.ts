import { Linked, LinkedList } from '../../kit/linked-list.ts'
import { LONGEST_TIMER_MS } from '../../kit/timers.ts'
import { CallFailure } from '../call-failure.ts'
import { failureOf } from './failure-of.ts'
import type { Client } from './open-client.ts'

/** A call that has no answer yet. */
class DueCall extends Linked<DueCall> {
  readonly client: Client
  readonly timeoutMs: number
  /** When it is given up, on `performance.now()`. */
  readonly endsAt: number
  readonly reject: (failure: CallFailure) => void

  constructor(
    client: Client,
    now: number,
    timeoutMs: number,
    reject: (failure: CallFailure) => void,
  ) {
    super()
    this.client = client
    this.timeoutMs = timeoutMs
    this.endsAt = now + timeoutMs
    this.reject = reject
  }
}

/** The calls of one connection that have no answer yet: each has its deadline, and all have one timer. */
export class DueCalls {
  readonly #silenceMs: number
  readonly #onSilence: (client: Client) => void
  readonly #onRefusal: (failure: CallFailure) => void
  /** Those whose time is not up. */
  readonly #calls = new LinkedList<DueCall>()
  /** How many have no answer, be their time up or not. */
  #due = 0
  /** Since when answers are due and none has come, on `performance.now()`. */
  #silentSince: number | undefined
  /** Keeps the process alive while the time of a call is not up. */
  #timer: NodeJS.Timeout | undefined
  #firesAt = Infinity
  #longSilence: NodeJS.Timeout | undefined
  #isGone = false
  // After a blocked event loop answers may have arrived and not been read yet: they have their turn first.
  readonly #onTime = () => void setImmediate(this.#giveUp)

  /**
   * @param silenceMs after a silence of twice this long `onSilence` is called at the latest
   * @param onSilence a call has waited in vain
   * @param onRefusal the server answered with an error
   */
  constructor(
    silenceMs: number,
    onSilence: (client: Client) => void,
    onRefusal: (failure: CallFailure) => void,
  ) {
    this.#silenceMs = silenceMs
    this.#onSilence = onSilence
    this.#onRefusal = onRefusal
  }

  get any(): boolean {
    return this.#due > 0
  }

  /** For how long nothing has come while answers were due, in milliseconds. */
  get silentMs(): number {
    return this.#silentSince === undefined ? 0 : performance.now() - this.#silentSince
  }

  /** The connection is gone: some of them ioredis may never settle. */
  forget(): void {
    this.#due = 0
    this.#silentSince = undefined
    this.#isGone = true
    clearTimeout(this.#longSilence)
    if (this.#calls.size === 0) this.#rest()
  }

  /** @returns the reply; rejects with a {@link CallFailure} and nothing else */
  send<T>(client: Client, timeoutMs: number, send: (client: Client) => Promise<T>): Promise<T> {
    const now = performance.now()
    this.#silentSince ??= now
    this.#isGone = false
    return new Promise((resolve, reject) => {
      const call = new DueCall(client, now, timeoutMs, reject)
      if (this.#calls.size === 0) this.#timer?.ref()
      this.#calls.add(call)
      if (call.endsAt < this.#firesAt) this.#arm(call.endsAt, now)
      this.#due += 1
      send(client).then(
        (reply) => {
          this.#answered(call)
          resolve(reply)
        },
        (error: unknown) => {
          this.#answered(call)
          const failure = failureOf(error)
          if (failure.kind === 'refused') this.#onRefusal(failure)
          reject(failure)
        },
      )
    })
  }

  #answered(call: DueCall): void {
    if (this.#due > 0) this.#due -= 1
    this.#silentSince = undefined
    this.#calls.remove(call)
    if (this.#calls.size === 0) this.#rest()
  }

  /** No call is left: the timer stays for the next one, unless the connection is gone. */
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
    const silent = new Set<Client>()
    let next = Infinity
    for (const call of [...this.#calls]) {
      const { client, timeoutMs, endsAt } = call
      if (endsAt > now) {
        next = Math.min(next, endsAt)
        continue
      }
      this.#calls.remove(call)
      silent.add(client)
      call.reject(new CallFailure('unknown', `no answer within ${Math.round(timeoutMs)} ms`))
    }
    // What makes up for a lost answer may still get through where the request did.
    if (silent.size > 0) setImmediate(() => this.#afterSilence(silent))
    if (next !== Infinity) this.#arm(next, now)
  }

  #afterSilence(clients: ReadonlySet<Client>): void {
    for (const client of clients) this.#onSilence(client)
    const since = this.#silentSince
    if (since === undefined || this.#calls.size > 0) return
    // It may be too short yet to say anything, and nobody may call any more.
    const look = () => {
      if (this.#silentSince === since) for (const client of clients) this.#onSilence(client)
    }
    clearTimeout(this.#longSilence)
    const ms = since + 2 * this.#silenceMs - performance.now()
    this.#longSilence = setTimeout(look, Math.min(Math.max(ms, 1), LONGEST_TIMER_MS)).unref()
  }
}
