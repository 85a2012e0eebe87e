import type { ReenterAnswer } from '../answers.ts'
import type { HolderFacts, LockFacts } from '../facts.ts'
import { clientOf } from '../owner-id.ts'
import { shownTtlMs } from '../remaining.ts'
import { holdAgeMs } from './calls/hold-age.ts'
import { withOthers } from './calls/own-listeners.ts'
import { converted, only } from './scripts/convert.ts'
import * as scripts from './scripts/lock.generated.ts'
import { odd } from './scripts/reading.ts'
import type { Binding } from './scripts/script.ts'

/*
 * The generated bindings check the format of answers. The bindings below convert answers for
 * `RemoteLock`, and throw at an answer that is invalid for the caller. The script runner reports
 * such an answer as an {@link OddAnswer}, because the script may have run.
 */

export const acquire = sound(only(scripts.acquire, 'granted', 'held'))
export const reenter = converted(only(scripts.acquire, 'granted', 'gone'), reentryOf)
export const handOverOrYield = sound(scripts.handOver)
export const handOver = only(handOverOrYield, 'granted', 'gone')
export const free = withOthers(only(scripts.release, 'freed', 'gone'))
// If the server refuses this request as late, the client does not repeat it, because the owner may
// have raised the count meanwhile.
export const lower = { ...only(scripts.release, 'kept', 'gone'), asksAgain: false }
export const { forceRelease } = scripts
export const peek = converted(scripts.peek, factsOf)
export const inspect = converted(scripts.inspect, lockFacts)

/**
 * Returns the binding that rejects a grant with impossible tokens. The reserved tokens are directly
 * below the token of the grant, and each must be above 0.
 */
export function sound<
  Names,
  Given,
  A extends { readonly kind: string; readonly token?: number; readonly reserved?: number },
>(binding: Binding<Names, Given, A>): Binding<Names, Given, A> {
  return converted(binding, (answer) => {
    const { token = 1, reserved = 0 } = answer
    if (reserved >= token) throw odd()
    return answer
  })
}

/**
 * Checks the token in the answer to a reentry. The scripts answer 0, without reserved tokens. A
 * token above 0 must be above the number of reserved tokens.
 */
export function reentryOf(
  answer: Exclude<scripts.AcquireReply, { readonly kind: 'held' }>,
): ReenterAnswer {
  if (answer.kind === 'gone') return answer
  const { token, reserved } = answer
  if ((token > 0 || reserved > 0) && reserved >= token) throw odd()
  return answer
}

function factsOf({ holder, holds, ttlMs, token }: scripts.PeekReply): HolderFacts {
  return { holder, holdCount: holds, ttlMs: shownTtlMs(ttlMs), token }
}

function lockFacts(facts: scripts.InspectReply): LockFacts {
  const { holder, token, listeners, nowUs, queue, waiting, length } = facts
  const marks = new Map(waiting)
  const entries = queue.map(([owner, ticket]) => {
    const [, untilMs, process] = /^(\d+) \d (.*)$/s.exec(marks.get(clientOf(owner)) ?? '') ?? []
    const alive = Number(untilMs) * 1_000 >= nowUs
    const waitedMs = Math.max(0, Math.round((nowUs - Number(ticket)) / 1_000))
    return { owner, process: alive ? (process ?? '') : null, waitedMs }
  })
  return {
    ...factsOf(facts),
    ageMs: holder === null ? null : holdAgeMs(holder, token ?? 0, nowUs),
    waiters: Math.max(listeners, new Set(entries.map(({ owner }) => clientOf(owner))).size),
    queue: entries,
    queueLength: length,
  }
}
