import type { AcquireAnswer, ReadWriteFacts, ReenterAnswer, WaitingClient } from '../../answers.ts'
import type { HeldSince } from '../../read-write-server.ts'
import * as scripts from '../scripts/read-write.generated.ts'
import { odd } from '../scripts/reading.ts'

/** Instead of the time, for one that reads and is to go on to write. */
const GOES_ON = '3'

/** What `acquire-read` answered to a first acquisition. */
export function readingOf(reply: unknown): AcquireAnswer {
  const answer = scripts.readAcquireRead(reply)
  if (answer.kind === 'gone') throw odd()
  return answer
}

/** What `acquire-read` answered to a re-entry. */
export function rereadingOf(reply: unknown): ReenterAnswer {
  const answer = scripts.readAcquireRead(reply)
  if (answer.kind === 'held') throw odd()
  return answer
}

/** What `acquire-write` answered to a first acquisition. */
export function writingOf(reply: unknown): AcquireAnswer | HeldSince {
  const answer = scripts.readAcquireWrite(reply)
  if (answer.kind === 'gone' || (answer.kind === 'granted' && answer.token === 0)) throw odd()
  if (answer.kind === 'granted') return answer
  const { sinceUs, ...held } = answer
  return { ...held, since: sinceUs }
}

/** What `acquire-write` answered to a re-entry. */
export function rewritingOf(reply: unknown): ReenterAnswer {
  const answer = scripts.readAcquireWrite(reply)
  if (answer.kind === 'held') throw odd()
  return answer
}

/** What `inspect` answered. */
export function readWriteFacts(reply: unknown): ReadWriteFacts {
  const { mode, token, nowUs, holds, leftMs, readers, writers } = scripts.readInspect(reply)
  if (mode !== null && mode !== 'read' && mode !== 'write') throw odd()
  const left = new Map(leftMs)
  const holders = holds.map(([owner, count]) => {
    const ttlMs = Number(left.get(owner) ?? -1)
    return { owner, holdCount: Number(count), ttlMs: ttlMs < 0 ? null : ttlMs }
  })
  const waiting = (clients: readonly (readonly [string, string])[]): WaitingClient[] =>
    clients.map(([client, sinceUs]) => {
      const waitedMs = Math.max(0, Math.round((nowUs - Number(sinceUs)) / 1_000))
      return { client, waitedMs: sinceUs === GOES_ON ? null : waitedMs }
    })
  return {
    mode: holders.length === 0 ? null : mode,
    holders,
    token,
    waitingToRead: waiting(readers),
    waitingToWrite: waiting(writers),
  }
}
