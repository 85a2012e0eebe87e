import type { AcquireAnswer, Gone } from '../../answers.ts'
import type { WaitingClient } from '../../facts.ts'
import { isUpgradable, isWriter, sideOf } from '../../owner-id.ts'
import type { ReadWriteState } from '../../read-write-server.ts'
import { holdAgeMs } from '../calls/hold-age.ts'
import { withOthers } from '../calls/own-listeners.ts'
import { converted, only } from '../scripts/convert.ts'
import * as scripts from '../scripts/read-write.generated.ts'
import { odd } from '../scripts/reading.ts'

/**
 * The score of an upgradable holder that waits to write. All other members of the queue have a time
 * as score.
 */
const GOES_ON = '3'

export const acquireRead = converted(
  only(scripts.acquireRead, 'granted', 'held'),
  (answer): AcquireAnswer => (answer.kind === 'granted' ? answer : heldOf(answer)),
)
export const readAgain = only(scripts.acquireRead, 'granted', 'gone')
export const acquireWrite = converted(scripts.acquireWrite, (answer): AcquireAnswer | Gone => {
  if (answer.kind === 'granted' && answer.token === 0) throw odd()
  return answer.kind === 'held' ? heldOf(answer) : answer
})
export const writeAgain = only(scripts.acquireWrite, 'granted', 'gone')
export const free = withOthers(scripts.release)
// If the server refuses this request as late, the client does not repeat it, because the owner may
// have raised the count meanwhile.
export const lower = { ...free(0), asksAgain: false }
export const inspect = converted(scripts.inspect, readWriteFacts)

function heldOf<H extends { readonly sinceUs: string }>({ sinceUs, ...held }: H) {
  return { ...held, waitId: sinceUs }
}

function readWriteFacts(facts: scripts.InspectReply): ReadWriteState {
  const { mode, token, nowUs, readers, writers, ...found } = facts
  if (mode !== null && mode !== 'read' && mode !== 'write') throw odd()
  const [remaining, since] = [new Map(found.leftMs), new Map(found.sinceUs)]
  const agoMs = (sinceUs: number) => Math.max(0, Math.round((nowUs - sinceUs) / 1_000))
  const ageMsOf = (owner: string) => {
    // The lease key of a reader stores when the hold began.
    const sinceUs = isWriter(owner) ? (token ?? 0) : Number(since.get(owner) ?? 0)
    return holdAgeMs(owner, sinceUs, nowUs)
  }
  const holders = found.holds.map(([owner, count]) => {
    const ttlMs = Number(remaining.get(owner) ?? -1)
    const holdCount = Number(count)
    return {
      owner,
      side: sideOf(owner),
      holdCount,
      ttlMs: ttlMs < 0 ? null : ttlMs,
      ageMs: ageMsOf(owner),
    }
  })
  const waiting = (members: readonly (readonly [string, string])[]): WaitingClient[] =>
    members.map(([member, sinceUs]) => ({
      client: member.replace(/:.*$/, ''),
      waitedMs: sinceUs === GOES_ON ? null : agoMs(Number(sinceUs)),
    }))
  const upgradable = writers.filter(([member]) => isUpgradable(member))
  const toRead = [...readers, ...upgradable].sort(([, a], [, b]) => Number(a) - Number(b))
  return {
    mode: holders.length === 0 ? null : mode,
    holders,
    token,
    waitingToRead: waiting(toRead),
    waitingToWrite: waiting(writers.filter(([member]) => !isUpgradable(member))),
  }
}
