import type { CallFailure } from '../call-failure.ts'
import { failureOf, refusal } from './failure-of.ts'
import { readOr } from './replies.ts'
import * as lock from './scripts/lock.generated.ts'
import { vote } from './scripts/quorum.generated.ts'
import { listOf, sized } from './scripts/reading.ts'
import type { Args, Read, Script, Value } from './scripts/script.ts'
import type { Terms } from './scripts/terms.ts'

/** What a script of a lock answers. */
export type Answer = [kind: string, ...details: unknown[]]
/** What `batch` says for it: in short, where it is what usually is answered. */
type Reply = Answer | string | number | Error
type Run = <T>(
  script: Script,
  keys: readonly string[],
  args: (terms: Terms) => Args,
  endsAt: number,
  read: Read<T>,
) => Promise<T>

interface Call {
  readonly script: Script
  readonly keys: readonly string[]
  readonly args: (terms: Terms) => Args
  readonly endsAt: number
  /** It may throw, which is a failure of this call. */
  heard(reply: Answer): void
  reject(failure: CallFailure): void
}

/** A script that `batch` can run. */
interface Batched {
  /** What `batch` knows it by. */
  readonly letter: string
  /** Where those of its arguments are that `batch` is told for each call, and not once for all of them. */
  readonly own: readonly number[]
  /** Where that one is which `batch` is told once, although the connection does not know it. */
  readonly longestMs: number
}

const BATCHED = new Map<Script, Batched>([
  [lock.acquire, batched('a', lock.acquire)],
  [vote, batched('v', vote)],
  [lock.release, batched('r', lock.release)],
])

function batched(letter: string, { args }: Script): Batched {
  const common: readonly string[] = [...lock.batch.args, 'channel'] // That one is made from a key.
  const own = [...args.keys()].filter((i) => !common.includes(args[i] as string))
  return { letter, own, longestMs: args.indexOf('longestMs') }
}

/**
 * What there is goes in about four requests, so that client and server work at the same time. Of so
 * many calls at the least, and at the most: meanwhile the server does nothing else.
 */
const REQUESTS = 4
const LEAST = 16
const MOST = 64

/**
 * Calls for many locks that are made in one turn of the event loop, in one request. ioredis, the
 * network and Redis do not take much longer for it than for one: `npm run bench -- --only b`. A lone
 * call is sent at once, before its caller can block the event loop. All that go together have the
 * time of the one that has the least, so that who has less than half as much goes apart.
 */
export class Batch {
  readonly #run: Run
  readonly #onRefusal: (failure: CallFailure) => void
  #calls: Call[] = []
  /** The first key of each: its lock. Its other keys go with that one. */
  readonly #locks = new Set<string>()

  /** @param onRefusal called for a call that was refused among others that may not have been */
  constructor(run: Run, onRefusal: (failure: CallFailure) => void) {
    this.#run = run
    this.#onRefusal = onRefusal
  }

  takes(script: Script): boolean {
    return BATCHED.has(script)
  }

  add<T>(
    script: Script,
    keys: readonly string[],
    args: (terms: Terms) => Args,
    endsAt: number,
    read: Read<T>,
  ): Promise<T> {
    this.sendBefore(keys)
    return new Promise((resolve, reject) => {
      if (this.#calls.length === 0) process.nextTick(() => this.#sendAll())
      const heard = (reply: Answer) => resolve(read(reply))
      this.#calls.push({ script, keys, args, endsAt, heard, reject })
      this.#locks.add(keys[0] as string)
    })
  }

  /** What is about to be told of these keys must not overtake what was told of them before. */
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
      // Where the event loop was blocked the time of all may be up.
      const leastMs = Math.min(longestMs, longestMs / 2)
      const isHasty = (call: Call) => call.endsAt - now < leastMs
      const others = calls.filter((call) => !isHasty(call))
      const size = Math.min(Math.max(Math.ceil(others.length / REQUESTS), LEAST), MOST)
      for (let from = 0; from < others.length; from += size) {
        this.#send(others.slice(from, from + size))
      }
      calls = calls.filter(isHasty)
    }
  }

  #send(calls: readonly Call[]): void {
    if (calls.length === 1) {
      this.#sendEach(calls)
      return
    }
    const keys: string[] = []
    for (const call of calls) keys.push(...call.keys)
    const endsAt = Math.min(...calls.map((call) => call.endsAt))
    const args = (terms: Terms) => argsOfAll(calls, terms)
    const heard = (replies: unknown) => {
      const all = listOf(replies)
      sized(all, calls.length)
      for (const [i, reply] of all.entries()) this.#hear(calls[i] as Call, reply)
    }
    this.#run(lock.batch, keys, args, endsAt, heard).catch((failure: CallFailure) => {
      // None was run. It may be for the sake of one of them, whose key is out of bounds.
      if (failure.kind === 'refused') this.#sendEach(calls)
      else for (const call of calls) call.reject(failure)
    })
  }

  #hear(call: Call, reply: unknown): void {
    try {
      readOr(call.script.name, reply, (one) => call.heard(answerOf(one as Reply)))
    } catch (failure) {
      this.#onRefusal(failure as CallFailure)
      call.reject(failure as CallFailure)
    }
  }

  #sendEach(calls: readonly Call[]): void {
    for (const { script, keys, args, endsAt, heard, reject } of calls) {
      this.#run(script, keys, args, endsAt, (reply) => heard(reply as Answer)).catch(reject)
    }
  }
}

function argsOfAll(calls: readonly Call[], terms: Terms): Args {
  const own: Value[] = []
  let longestMs: number | '' = ''
  let kinds = ''
  for (const { script, args } of calls) {
    const of = BATCHED.get(script) as Batched
    const all = args(terms)
    const before = own.length
    for (const i of of.own) if (i < all.length) own.push(all[i] as Value)
    if (of.longestMs !== -1) longestMs = all[of.longestMs] as number
    kinds += `${of.letter}${own.length - before}`
  }
  return lock.batchArgs({ longestMs, kinds, own }, terms)
}

function answerOf(reply: Reply): Answer {
  if (typeof reply === 'string') return ['granted', reply]
  if (typeof reply === 'number') return ['freed', reply]
  if (reply instanceof Error) throw failureOf(reply)
  if (reply[0] === 'error') throw refusal(String(reply[1]))
  return reply
}
