import { setTimeout as pause } from 'node:timers/promises'
import type { HolderRow, Inspection, LockDetail } from '../../inspection/inspection.ts'
import { hasClient } from '../../inspection/owner-ids.ts'
import { refuseKind } from '../../inspection/refuse-force.ts'
import { viewOf } from '../../kinds/all.ts'
import { EXIT, type Terminal } from '../command/command.ts'
import type { ReadOptions } from '../servers/options.ts'
import { duration, escaped } from '../text/words.ts'

export interface ReleaseQuestion {
  readonly name: string
  readonly key: string
  /** The only owner to ask. Undefined to ask all holders. */
  readonly owner: string | undefined
  readonly reason: string | undefined
  /**
   * The longest wait until none of the asked holders holds the lock, in milliseconds. Undefined for
   * no wait.
   */
  readonly waitMs: number | undefined
}

/** The outcome, as `--json` prints it. */
interface ReleaseAnswer {
  readonly name: string
  readonly key: string
  /**
   * `free`: the lock is free, or the given owner does not hold it. `heard`: all asked holders
   * confirmed the request. `not-heard`: a holder did not confirm. `ended`: no asked holder holds
   * the lock any more.
   */
  readonly outcome: 'free' | 'heard' | 'not-heard' | 'ended'
  readonly holders: readonly (HolderRow & { readonly heard: boolean })[]
}

/**
 * The first and the longest pause between two inspections of the lock, in milliseconds. Each pause
 * is twice as long as the previous pause, up to `longest`.
 */
const LOOK_MS = { first: 50, longest: 1_000 }

/** Asks the holders of a lock to release it, and prints the outcome. @returns the exit code */
export async function requestRelease(
  inspection: Inspection,
  asking: ReleaseQuestion,
  looking: ReadOptions,
  terminal: Terminal,
  by: string,
): Promise<number> {
  const { name, key, owner } = asking
  const detail = await inspection.inspect(key)
  if (detail !== null) refuseKind(detail.kind, key)
  const holders = (detail?.holders ?? []).filter(
    (one) => owner === undefined || one.owner === owner,
  )
  const print = ({ outcome, holders }: Omit<ReleaseAnswer, 'name' | 'key'>) => {
    const asked: ReleaseAnswer = { name, key, outcome, holders }
    terminal.out(
      looking.json ? `${JSON.stringify(asked)}\n` : textOf(asked, asking, inspection.address),
    )
  }
  if (detail === null || holders.length === 0) {
    print({ outcome: 'free', holders: [] })
    return EXIT.ok
  }
  const asked = await requestEach(inspection, holders, asking, by)
  const allHeard = asked.every(({ heard }) => heard)
  // With several masters, each master has its own token counter, so a token does not identify a
  // hold.
  const token = detail.votes === null ? detail.token : null
  const hasEnded = await waitForEnd(inspection, { ...detail, token }, holders, asking)
  print({ outcome: hasEnded ? 'ended' : allHeard ? 'heard' : 'not-heard', holders: asked })
  return hasEnded || (allHeard && asking.waitMs === undefined) ? EXIT.ok : EXIT.findings
}

async function requestEach(
  inspection: Inspection,
  holders: readonly HolderRow[],
  { key, reason }: ReleaseQuestion,
  by: string,
): Promise<ReleaseAnswer['holders']> {
  // A holder whose client is unknown cannot be asked.
  const owners = holders.map(({ owner }) => owner).filter(hasClient)
  const confirmed = await inspection.requestRelease(key, owners, { by, reason })
  const heard = new Set(owners.filter((_, i) => confirmed[i]))
  return holders.map((holder) => ({ ...holder, heard: heard.has(holder.owner) }))
}

/**
 * Waits until none of the holders holds the lock any more, for at most `waitMs`. Without `waitMs`,
 * returns false at once.
 *
 * @returns true if none of the holders holds the lock any more
 */
async function waitForEnd(
  inspection: Inspection,
  { key, token, kind }: LockDetail,
  holders: readonly HolderRow[],
  { waitMs }: ReleaseQuestion,
): Promise<boolean> {
  if (waitMs === undefined) return false
  const { reusesOwners = false } = viewOf(kind)
  const endsAt = performance.now() + waitMs
  for (let pauseMs = LOOK_MS.first; ; pauseMs = Math.min(2 * pauseMs, LOOK_MS.longest)) {
    const now = await inspection.inspect(key)
    const isOther = reusesOwners && token !== null && now?.token !== token
    const owners = new Set(isOther ? [] : now?.holders.map(({ owner }) => owner))
    if (!holders.some(({ owner }) => owners.has(owner))) return true
    const leftMs = endsAt - performance.now()
    if (leftMs <= 0) return false
    await pause(Math.min(pauseMs, leftMs))
  }
}

function textOf(
  { key, outcome, holders }: ReleaseAnswer,
  asking: ReleaseQuestion,
  address: string,
): string {
  const name = `"${escaped(key)}"`
  if (outcome === 'free') {
    const { owner } = asking
    const state =
      owner === undefined
        ? `${name} is free at ${address}`
        : `The owner ${escaped(owner)} does not hold ${name} at ${address}`
    return `${state}. If this is wrong, check the name and its keyPrefix.\n`
  }
  const lines = holders.map((holder) => {
    const { owner, process, heard } = holder
    const who =
      process === null
        ? escaped(owner)
        : `${escaped(process.label)} (${process.pid} on ${escaped(process.host)})`
    return heard
      ? `${who} was asked to release ${name}, and confirmed the request.`
      : `${who} was asked to release ${name}, and did not confirm the request: ${whyNot(holder)}.`
  })
  const { waitMs } = asking
  const forMs = duration(waitMs ?? 0)
  if (outcome === 'ended')
    lines.push(`${name} is no longer held by ${holders.length > 1 ? 'any of them' : 'it'}.`)
  else if (waitMs !== undefined) lines.push(`${name} is still held after ${forMs}.`)
  else
    lines.push(
      'This command did not take the lock: each holder decides when to release it. To wait for the release, add --wait-ms <ms>.',
    )
  return `${lines.join('\n')}\n`
}

function whyNot({ owner, isRedisson }: HolderRow): string {
  if (isRedisson) return 'clients of Redisson cannot be asked'
  if (!hasClient(owner)) return 'the client of this permit is unknown'
  return 'its program does not listen for requests, is frozen or cut off, or has an older version of Holdfast'
}
