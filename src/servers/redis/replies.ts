import type {
  HeartbeatAnswer,
  HolderFacts,
  LockFacts,
  ReenterAnswer,
  Released,
} from '../answers.ts'
import { clientOf } from '../owner-id.ts'
import { endsInMs, shownTtlMs } from '../remaining.ts'
import { type OwnListeners, othersOf } from './calls/own-listeners.ts'
import * as fair from './scripts/fair.generated.ts'
import * as lock from './scripts/lock.generated.ts'
import { odd } from './scripts/reading.ts'
import type { Binding } from './scripts/script.ts'

/*
 * The generated readers check the format of answers. These functions convert them to the answers of
 * the port, and reject answers that the caller of a request cannot get. Each throws at an invalid
 * answer, which the script runner reports as an {@link OddAnswer}, because the script may have run.
 */

/** Reads the answer of `acquire` or `vote` to a re-entry. */
export function reentryOf(reply: unknown): ReenterAnswer {
  const answer = lock.acquire.read(reply)
  if (answer.kind === 'held') throw odd()
  if (answer.kind === 'gone') return answer
  // Only the answer to the repeat of a first acquisition has a token.
  const { token, reserved } = answer
  if ((token > 0 || reserved > 0) && reserved >= token) throw odd()
  return answer
}

/** Reads the answer of `heartbeat`: for each lock its state, or the error of the server. */
export function beatsOf(reply: unknown, locks: number): (HeartbeatAnswer | string)[] {
  const { answers } = fair.heartbeat.read(reply)
  if (answers.length !== locks) throw odd()
  return answers.map((one) =>
    typeof one === 'string' ? one : { ...one, ttlMs: endsInMs(one.ttlMs) },
  )
}

/** Reads the answer of `release` of the fair lock. */
export function fairReleasedOf(reply: unknown, clientId: string, own: OwnListeners): Released {
  const answer = fair.release.read(reply)
  if (answer.kind !== 'granted') return othersOf(answer, own)
  const { owner, token } = answer
  const following = { owner, token, own: clientOf(owner) === clientId }
  return { kind: 'freed', others: own === -1 ? 1 : 0, following }
}

export function holderFacts(reply: unknown): HolderFacts {
  return factsOf(lock.peek.read(reply))
}

function factsOf({ holder, holds, ttlMs, token }: lock.PeekReply): HolderFacts {
  return { holder, holdCount: holds, ttlMs: shownTtlMs(ttlMs), token }
}

export function lockFacts(reply: unknown): LockFacts {
  const facts = lock.inspect.read(reply)
  const { listeners, nowUs, queue, waiting, length } = facts
  const marks = new Map(waiting)
  const entries = queue.map(([owner, ticket]) => {
    const [, untilMs, process] = /^(\d+) \d (.*)$/s.exec(marks.get(clientOf(owner)) ?? '') ?? []
    const alive = Number(untilMs) * 1_000 >= nowUs
    const waitedMs = Math.max(0, Math.round((nowUs - Number(ticket)) / 1_000))
    return { owner, process: alive ? (process ?? '') : null, waitedMs }
  })
  return {
    ...factsOf(facts),
    waiters: Math.max(listeners, new Set(entries.map(({ owner }) => clientOf(owner))).size),
    queue: entries,
    queueLength: length,
  }
}

/** Refuses a grant unless all reserved tokens below its token are above 0. */
export function sound<
  Names,
  Given,
  A extends { readonly kind: string; readonly token?: number; readonly reserved?: number },
>(binding: Binding<Names, Given, A>): Binding<Names, Given, A> {
  return {
    ...binding,
    read: (reply) => {
      const answer = binding.read(reply)
      const { token = 1, reserved = 0 } = answer
      if (reserved >= token) throw odd()
      return answer
    },
  }
}
