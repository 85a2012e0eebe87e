import { Linked, LinkedList } from '../../../kit/linked-list.ts'
import { LONGEST_TIMER_MS } from '../../../kit/timers.ts'
import { CallFailure } from '../../call-failure.ts'
import { promised, type Reply } from '../../reply.ts'
import { failureOf } from './failure-of.ts'
import type { Client } from './open-client.ts'

/** A request to one server, from when it is sent until it is answered or given up. */
export abstract class DueCall extends Linked<DueCall> {
  /** @internal Where it was sent. */
  client: Client | undefined
  /** @internal How long it may take, in milliseconds. */
  timeoutMs = 0
  /** @internal When it is given up, on `performance.now()`. */
  givenUpAt = 0

  /** Writes it to the connection. */
  abstract send(client: Client): Promise<unknown>
  abstract answered(reply: unknown): void
  abstract failed(failure: CallFailure): void
}

/** A command that is no script. */
class CommandCall<T> extends DueCall {
  readonly #send: (client: Client) => Promise<T>
  readonly #reply: Reply<T>

  constructor(send: (client: Client) => Promise<T>, reply: Reply<T>) {
    super()
    this.#send = send
    this.#reply = reply
  }

  send(client: Client): Promise<T> {
    return this.#send(client)
  }

  answered(reply: unknown): void {
    this.#reply.answered(reply as T)
  }

  failed(failure: CallFailure): void {
    this.#reply.failed(failure)
  }
}

/** @returns the reply to a command that is no script */
export function commandOf<T>(
  send: (client: Client) => Promise<T>,
  submit: (call: DueCall) => void,
): Promise<T> {
  return promised((reply) => submit(new CommandCall(send, reply)))
}

/** The connection that they are of. */
interface Host {
  /** What is wrong until the next answer. */
  readonly trouble: { readonly isTold: boolean; answered(): void }
  /** A call has waited in vain. */
  suspect(client: Client): void
  /** The server answered with an error. */
  heard(failure: CallFailure): void
}

/** The calls of one connection that have no answer yet: each has its deadline, and all have one timer. */
export class DueCalls {
  readonly #silenceMs: number
  readonly #host: Host
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

  /** @param silenceMs the connection is suspected after a silence of twice this long at the latest */
  constructor(silenceMs: number, host: Host) {
    this.#silenceMs = silenceMs
    this.#host = host
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

  send(client: Client, call: DueCall, timeoutMs: number): void {
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
        if (trouble.isTold) trouble.answered()
        if (this.#isWaitedFor(call)) call.answered(reply)
      },
      (error: unknown) => {
        const isWaitedFor = this.#isWaitedFor(call)
        const failure = failureOf(error)
        if (failure.kind === 'refused') this.#host.heard(failure)
        if (isWaitedFor) call.failed(failure)
      },
    )
  }

  /** To be asked when its answer has come. */
  #isWaitedFor(call: DueCall): boolean {
    if (this.#due > 0) this.#due -= 1
    // The others are due since now, as far as silence goes.
    this.#silentSince = this.#due > 0 ? performance.now() : undefined
    if (!this.#calls.has(call)) return false
    this.#calls.remove(call)
    if (this.#calls.size === 0) this.#rest()
    return true
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
    const over: DueCall[] = []
    let next = Infinity
    for (const call of [...this.#calls]) {
      const { client, givenUpAt } = call
      if (givenUpAt > now) {
        next = Math.min(next, givenUpAt)
        continue
      }
      this.#calls.remove(call)
      silent.add(client as Client)
      over.push(call)
    }
    // What makes up for a lost answer may still get through where the request did.
    if (silent.size > 0) setImmediate(() => this.#afterSilence(silent))
    if (next !== Infinity) this.#arm(next, now)
    for (const call of over) {
      call.failed(new CallFailure('unknown', `no answer within ${Math.round(call.timeoutMs)} ms`))
    }
  }

  #afterSilence(clients: ReadonlySet<Client>): void {
    for (const client of clients) this.#host.suspect(client)
    const since = this.#silentSince
    if (since === undefined || this.#calls.size > 0) return
    // It may be too short yet to say anything, and nobody may call any more.
    const look = () => {
      if (this.#silentSince === since) for (const client of clients) this.#host.suspect(client)
    }
    clearTimeout(this.#longSilence)
    const ms = since + 2 * this.#silenceMs - performance.now()
    this.#longSilence = setTimeout(look, Math.min(Math.max(ms, 1), LONGEST_TIMER_MS)).unref()
  }
}
