import { CallFailure } from '../../call-failure.ts'
import type { Reply } from '../../reply.ts'
import { failureOf, refusal } from '../connection/failure-of.ts'
import * as lock from '../scripts/lock.generated.ts'
import { vote } from '../scripts/quorum.generated.ts'
import { listOf, sized } from '../scripts/reading.ts'
import type { Args, Binding, GivenSource, Script, Value } from '../scripts/script.ts'
import type { Terms } from '../scripts/terms.ts'

/** A call of a script that can share a request with other calls. */
interface Call {
  readonly script: Script
  readonly keys: readonly string[]
  /** The deadline, on `performance.now()`. */
  readonly endsAt: number
  argsFor(terms: Terms): Args
  answered(reply: unknown): void
  failed(failure: CallFailure): void
}

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

/** A script that `batch` can run. */
interface Batched {
  /** The letter that names the script in the argument `kinds` of `batch`. */
  readonly letter: string
  /** The indices of the arguments that `batch` needs separately for each call. */
  readonly own: readonly number[]
  /**
   * The index of the argument `longestMs`; -1 if the script has no such argument. RedLocks of
   * several clients share one connection, so the values can differ. `batch` uses the largest value.
   */
  readonly longestMs: number
}

const BATCHED = new Map<Script, Batched>([
  batched('a', lock.acquire.script),
  batched('v', vote.script),
  batched('r', lock.release.script),
])

function batched(letter: string, script: Script): [Script, Batched] {
  const { args } = script
  const common = [...lock.batch.script.args, 'channel'] // 'channel' is made from a key.
  const own = [...args.keys()].filter((i) => !common.includes(args[i] as string))
  return [script, { letter, own, longestMs: args.indexOf('longestMs') }]
}

/**
 * The client aims at four requests for the waiting calls, so that client and server work at the
 * same time. Each request has 16 to 64 calls, but the last may have fewer. While Redis runs a
 * request, it serves no other client.
 */
const REQUESTS = 4
const LEAST = 16
const MOST = 64

/**
 * Collects the calls of one turn of the event loop, and sends them in a few requests. A request for
 * many locks costs little more than a request for one lock: see `npm run bench -- --only b`.
 *
 * All calls of a request share the earliest of their deadlines. So a call with less than half of
 * the longest remaining time goes into another request.
 */
export class Batch<C extends Call> {
  readonly #sender: BatchSender<C>
  readonly #onRefusal: (failure: CallFailure) => void
  #calls: C[] = []
  /** The names of the locks of the waiting calls. The first key of a call is the name of its lock. */
  readonly #locks = new Set<string>()

  /** @param onRefusal receives the refusal of one call in a batch */
  constructor(sender: BatchSender<C>, onRefusal: (failure: CallFailure) => void) {
    this.#sender = sender
    this.#onRefusal = onRefusal
  }

  takes({ script }: C): boolean {
    return BATCHED.has(script)
  }

  add(call: C): void {
    const { keys } = call
    this.sendBefore(keys)
    if (this.#calls.length === 0) process.nextTick(() => this.#sendAll())
    this.#calls.push(call)
    this.#locks.add(keys[0] as string)
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
    const now = performance.now()
    while (calls.length > 0) {
      const longestMs = calls.reduce((ms, call) => Math.max(ms, call.endsAt - now), -Infinity)
      // After a blocked event loop, `longestMs` may be negative. Then its half is larger.
      const leastMs = Math.min(longestMs, longestMs / 2)
      const isHasty = (call: C) => call.endsAt - now < leastMs
      const others = calls.filter((call) => !isHasty(call))
      const size = Math.min(Math.max(Math.ceil(others.length / REQUESTS), LEAST), MOST)
      for (let from = 0; from < others.length; from += size) {
        this.#send(others.slice(from, from + size))
      }
      calls = calls.filter(isHasty)
    }
  }

  #send(calls: readonly C[]): void {
    if (calls.length === 1) {
      this.#sendEach(calls)
      return
    }
    const endsAt = Math.min(...calls.map((call) => call.endsAt))
    const binding = {
      ...lock.batch,
      read: (replies: unknown) => {
        const all = listOf(replies)
        sized(all, calls.length)
        return all
      },
    }
    const both: string[] = []
    for (const { keys } of calls) both.push(...keys)
    const given = (terms: Terms) => argsOfAll(calls, terms)
    this.#sender.run(binding, { both }, given, endsAt - performance.now(), {
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

function argsOfAll(calls: readonly Call[], terms: Terms): lock.BatchArgs {
  const own: Value[] = []
  let longestMs = 0
  let kinds = ''
  for (const call of calls) {
    const of = BATCHED.get(call.script) as Batched
    const all = call.argsFor(terms)
    const before = own.length
    for (const i of of.own) if (i < all.length) own.push(all[i] as Value)
    if (of.longestMs !== -1) longestMs = Math.max(longestMs, all[of.longestMs] as number)
    kinds += `${of.letter}${own.length - before}`
  }
  return { longestMs: longestMs || '', kinds, own }
}

/** Restores the usual answer of the script, because `batch` shortens frequent answers. */
function answerOf(reply: unknown): unknown {
  if (typeof reply === 'string') return ['granted', reply]
  if (typeof reply === 'number') return ['freed', reply]
  if (reply instanceof Error) return failureOf(reply)
  const isRefused = Array.isArray(reply) && reply[0] === 'error'
  return isRefused ? refusal(String(reply[1])) : reply
}
