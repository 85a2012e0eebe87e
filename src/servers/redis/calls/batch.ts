import { CallFailure } from '../../call-failure.ts'
import type { Reply } from '../../reply.ts'
import { listOf, sized } from '../scripts/reading.ts'
import type { Binding, GivenSource } from '../scripts/script.ts'
import type { Terms } from '../scripts/terms.ts'
import { answerOf, argsOfAll, type BatchScript, type Call } from './batch-scripts.ts'

/** Sends batches and single calls. */
interface BatchSender<C extends Call> {
  run<Names, Given, A>(
    binding: Binding<Names, Given, A>,
    names: Names,
    given: GivenSource<Given>,
    callMs: number,
    reply: Reply<A>,
  ): void
  sendAlone(call: C): void
}

/**
 * The client tries to send the waiting calls in four requests, so that client and server work at
 * the same time. Each request has 16 to 64 calls, but the last may have fewer. More calls would
 * delay other clients, because Redis runs one request at a time.
 */
const REQUESTS = 4
const LEAST = 16
const MOST = 64

/**
 * Collects the calls of one turn of the event loop, and sends them in a few requests. A request for
 * many locks costs little more than a request for one lock: see `npm run bench -- --only b`.
 *
 * All calls of a request share the earliest of their deadlines. So calls with very different
 * remaining times go into different requests.
 */
export class Batch<C extends Call> {
  readonly #script: BatchScript
  readonly #sender: BatchSender<C>
  readonly #onRefusal: (failure: CallFailure) => void
  #calls: C[] = []
  /** The names of the locks of the waiting calls. The first key of a call is the name of its lock. */
  readonly #locks = new Set<string>()
  /** The earliest and the latest deadline of the waiting calls, on `performance.now()`. */
  #earliest = Infinity
  #latest = -Infinity

  /** @param onRefusal receives the refusal of one call in a batch */
  constructor(
    script: BatchScript,
    sender: BatchSender<C>,
    onRefusal: (failure: CallFailure) => void,
  ) {
    this.#script = script
    this.#sender = sender
    this.#onRefusal = onRefusal
  }

  /** @param isBusy true if a request is in flight */
  takes({ script }: C, isBusy: boolean): boolean {
    return (isBusy && this.#script.batched.has(script)) || script === this.#script.always
  }

  add(call: C): void {
    const { keys } = call
    if (!this.#script.isOrdered) this.sendBefore(keys)
    else this.#keepDeadlinesClose(call)
    if (this.#calls.length === 0) process.nextTick(() => this.#sendAll())
    this.#calls.push(call)
    this.#locks.add(keys[0] as string)
  }

  /**
   * Sends the waiting calls first if their deadlines differ much from the deadline of this call. So the calls of an
   * ordered batch need no order by deadline.
   */
  #keepDeadlinesClose({ endsAt }: C): void {
    if (this.#calls.length > 0) {
      const now = performance.now()
      const shortestMs = Math.min(endsAt, this.#earliest) - now
      const longestMs = Math.max(endsAt, this.#latest) - now
      if (shortestMs < longestMs / 2) this.#sendAll()
    }
    const isFirst = this.#calls.length === 0
    this.#earliest = isFirst ? endsAt : Math.min(endsAt, this.#earliest)
    this.#latest = isFirst ? endsAt : Math.max(endsAt, this.#latest)
  }

  /**
   * Sends the waiting calls first if one of them has the same lock as these keys. Otherwise the new
   * request would overtake that call.
   */
  sendBefore(keys: readonly string[]): void {
    if (this.#calls.length > 0 && keys.some((key) => this.#locks.has(key))) this.#sendAll()
  }

  #sendAll(): void {
    let calls = this.#calls
    this.#calls = []
    this.#locks.clear()
    if (this.#script.isOrdered) {
      this.#sendInChunks(calls)
      return
    }
    const now = performance.now()
    while (calls.length > 0) {
      const longestMs = calls.reduce((ms, call) => Math.max(ms, call.endsAt - now), -Infinity)
      // After a blocked event loop, `longestMs` may be negative. Then its half is larger.
      const leastMs = Math.min(longestMs, longestMs / 2)
      const isHasty = (call: C) => call.endsAt - now < leastMs
      this.#sendInChunks(calls.filter((call) => !isHasty(call)))
      calls = calls.filter(isHasty)
    }
  }

  #sendInChunks(calls: readonly C[]): void {
    const size = Math.min(Math.max(Math.ceil(calls.length / REQUESTS), LEAST), MOST)
    for (let from = 0; from < calls.length; from += size) {
      this.#send(calls.slice(from, from + size))
    }
  }

  #send(calls: readonly C[]): void {
    if (calls.length === 1) {
      this.#sendEach(calls)
      return
    }
    const endsAt = Math.min(...calls.map((call) => call.endsAt))
    const binding = {
      ...this.#script.binding,
      read: (replies: unknown) => {
        const all = listOf(replies)
        sized(all, calls.length)
        return all
      },
    }
    const all: string[] = []
    for (const { keys } of calls) all.push(...keys)
    const given = (terms: Terms) => argsOfAll(this.#script.batched, calls, terms)
    this.#sender.run(binding, { all }, given, endsAt - performance.now(), {
      answered: (all) => {
        for (const [i, reply] of all.entries()) this.#answer(calls[i] as C, reply)
      },
      failed: (failure) => {
        // The server refused the whole request and ran no call. A single call may be the cause, for
        // example by a forbidden key. So each call is sent alone.
        if (failure.kind === 'refused') this.#sendEach(calls)
        else for (const call of calls) call.failed(failure)
      },
    })
  }

  #answer(call: Call, reply: unknown): void {
    const answer = answerOf(reply)
    if (answer instanceof CallFailure) {
      this.#onRefusal(answer)
      call.failed(answer)
    } else {
      call.answered(answer)
    }
  }

  #sendEach(calls: readonly C[]): void {
    for (const call of calls) this.#sender.sendAlone(call)
  }
}
