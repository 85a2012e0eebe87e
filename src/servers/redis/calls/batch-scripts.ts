import type { CallFailure } from '../../call-failure.ts'
import { failureOf, refusal } from '../connection/failure-of.ts'
import * as fair from '../scripts/fair.generated.ts'
import * as lock from '../scripts/lock.generated.ts'
import { vote } from '../scripts/quorum.generated.ts'
import type { Args, Binding, Script, Value } from '../scripts/script.ts'
import type { Terms } from '../scripts/terms.ts'

/** A call of a script that can share a request with other calls. */
export interface Call {
  readonly script: Script
  readonly keys: readonly string[]
  /** The deadline, on `performance.now()`. */
  readonly endsAt: number
  argsFor(terms: Terms): Args
  answered(reply: unknown): void
  failed(failure: CallFailure): void
}

/** A script that a batch can run. */
interface Batched {
  /** The letter that names the script in the argument `kinds` of the batch. */
  readonly letter: string
  /** The indices of the arguments that the batch needs separately for each call. */
  readonly own: readonly number[]
  /**
   * The index of the argument `longestMs`; -1 if the script has no such argument. RedLocks of
   * several clients share one connection, so the values can differ. `batch` uses the largest value.
   */
  readonly longestMs: number
}

/** The arguments of a batch that its calls decide. */
interface BatchArgs {
  readonly longestMs: number | ''
  readonly kinds: string
  readonly own: readonly Value[]
}

/** A script that runs several calls of other scripts. */
export interface BatchScript {
  readonly binding: Binding<{ readonly all: readonly string[] }, BatchArgs, unknown>
  readonly batched: ReadonlyMap<Script, Batched>
  /**
   * True if one request may have several calls for one lock, which then run in the order in which they were made.
   */
  readonly isOrdered: boolean
  /** Calls of this script are collected even if no request is in flight. */
  readonly always?: Script
}

export const LOCKS: BatchScript = {
  binding: lock.batch,
  batched: new Map([
    batched('a', lock.acquire.script, lock.batch.script),
    batched('v', vote.script, lock.batch.script),
    batched('r', lock.release.script, lock.batch.script),
  ]),
  isOrdered: false,
}

/**
 * Waiters that ask in the same turn of the event loop get consecutive places in the queue. A grant to the first waiter
 * can then include the others as a run, which the client serves without further requests.
 */
export const FAIR_LOCKS: BatchScript = {
  binding: fair.batch,
  batched: new Map([
    batched('a', fair.acquire.script, fair.batch.script),
    batched('r', fair.release.script, fair.batch.script),
  ]),
  isOrdered: true,
  always: fair.acquire.script,
}

function batched(letter: string, script: Script, batch: Script): [Script, Batched] {
  const { args } = script
  const common = [...batch.args, 'channel'] // 'channel' is made from a key.
  const own = [...args.keys()].filter((i) => !common.includes(args[i] as string))
  return [script, { letter, own, longestMs: args.indexOf('longestMs') }]
}

/** Makes the arguments of a batch from the arguments of its calls. */
export function argsOfAll(
  batched: BatchScript['batched'],
  calls: readonly Call[],
  terms: Terms,
): BatchArgs {
  const own: Value[] = []
  let longestMs = 0
  let kinds = ''
  for (const call of calls) {
    const of = batched.get(call.script) as Batched
    const all = call.argsFor(terms)
    const before = own.length
    for (const i of of.own) if (i < all.length) own.push(all[i] as Value)
    // If the last argument is a list, the call has more arguments than the script has names.
    own.push(...all.slice(call.script.args.length))
    if (of.longestMs !== -1) longestMs = Math.max(longestMs, all[of.longestMs] as number)
    kinds += `${of.letter}${own.length - before}`
  }
  return { longestMs: longestMs || '', kinds, own }
}

/** Restores the usual answer of the script, because a batch shortens frequent answers. */
export function answerOf(reply: unknown): unknown {
  if (typeof reply === 'string') return ['granted', reply]
  if (typeof reply === 'number') return ['freed', reply]
  if (reply instanceof Error) return failureOf(reply)
  const isRefused = Array.isArray(reply) && reply[0] === 'error'
  return isRefused ? refusal(String(reply[1])) : reply
}
