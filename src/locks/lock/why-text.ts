import { printable, printedMs } from '../../kit/printable.ts'
import { mayBeKept } from '../../servers/owner-id.ts'
import type { ClientInfo, WhyNotAcquired } from '../../why-not-acquired.ts'

/** The facts of an explanation. The client makes the text only when a caller asks for the text. */
export interface WhyFacts extends Omit<WhyNotAcquired, 'text'> {
  /** The error of the attempt; undefined if the lock was held. */
  readonly reason?: unknown
  /**
   * True if the holder may have renewed its lease after the client received `ttlMs`. The text then
   * says "at least".
   */
  readonly isLeastTtl?: boolean
}

/**
 * If the facts are older than this, in milliseconds, the sentence about the holder is in the past
 * tense.
 */
const PAST_MS = 1_000

const REENTER =
  ' If the holder is code around this call, run both in using() or run(), so that the call re-enters.'
/** For a kept lock, Redis still names the last holder after the release. */
const MAY_BE_KEPT =
  ' The client of this holder keeps the lock after a release (keepMs), so the lock may not be in use.'

type Nearness = 'here' | 'process' | 'elsewhere'

/**
 * Makes a sentence such as
 * `Lock "a" is held by app-3 (host:4711), as …, for 12 s, and 18 s are left of its lease.`
 *
 * @param agoMs the age of the facts, in milliseconds
 * @param nearness says if the holder belongs to this client, to another client of this process, or
 * to neither
 */
export function sentenceOf(facts: WhyFacts, agoMs: number, nearness: Nearness): string {
  const { name, outcome, holder } = facts
  const lock = `Lock "${name}"`
  if (outcome === 'free') return `${lock} is free now.`
  if (holder === null) return `${lock} was not available.${queueOf(facts)}`
  const who = whoIs(holder, facts.process, nearness)
  const age = facts.ageMs === null ? '' : ` for ${printedMs(facts.ageMs)}`
  if (agoMs > PAST_MS) {
    return `${lock} was held by ${who}${age} when it was last seen, ${printedMs(agoMs)} ago.${queueOf(facts)}`
  }
  const cure = nearness === 'here' ? REENTER : keptOf(holder)
  // If the age of the hold is unknown, the comma after the owner is removed.
  const held = age === '' ? who.replace(/,$/, '') : `${who}${age}`
  return `${lock} is held by ${held}${leftOf(facts)}.${queueOf(facts)}${cure}`
}

function keptOf(holder: string): string {
  return mayBeKept(holder) ? MAY_BE_KEPT : ''
}

function whoIs(holder: string, process: ClientInfo | null, nearness: Nearness): string {
  const owner = printable(holder)
  if (nearness === 'here') return `this client itself, as ${owner},`
  if (process === null) return owner
  const where = `${printable(process.host)}:${process.pid}`
  const label = printable(process.label)
  if (nearness === 'process') return `another client of this process (${label}), as ${owner},`
  return `${label === where ? label : `${label} (${where})`}, as ${owner},`
}

function leftOf({ ttlMs, isLeastTtl }: WhyFacts): string {
  if (ttlMs === null) return ''
  return `, and ${isLeastTtl ? 'at least ' : ''}${printedMs(ttlMs)} are left of its lease`
}

function queueOf({ queuePosition, queueLength }: WhyFacts): string {
  if (queuePosition !== null) return ` Its place in the queue was ${queuePosition}.`
  return queueLength === null
    ? ''
    : ` ${queueLength} ${queueLength === 1 ? 'waits' : 'wait'} in its queue.`
}
