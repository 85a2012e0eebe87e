import type { ClientInfo, WhyNotAcquired } from '../../errors.ts'
import { printable, printedMs } from '../../kit/printable.ts'

/** An explanation before it is put into words, which few ask for. */
export interface Facts extends Omit<WhyNotAcquired, 'text'> {
  /** Why it failed, if it did. */
  readonly reason?: unknown
  /** Whether the lease may have been renewed since `ttlMs` was seen. */
  readonly isLeastTtl?: boolean
}

/** Knowledge that is older than this is told as past, in milliseconds. */
const PAST_MS = 1_000

type Nearness = 'here' | 'process' | 'elsewhere'

/**
 * As in `Lock "a" is held by app-3 (host:4711), as …, for 12 s, and 18 s are left of its lease.`
 *
 * @param agoMs how long ago that was so
 * @param nearness where the client of the holder is
 */
export function sentenceOf(facts: Facts, agoMs: number, nearness: Nearness): string {
  const { name, outcome, holder } = facts
  const lock = `Lock "${name}"`
  if (outcome === 'free') return `${lock} is free now.`
  if (holder === null) return `${lock} was not available.${queueOf(facts)}`
  const who = whoIs(holder, facts.process, nearness)
  const age = facts.ageMs === null ? '' : ` for ${printedMs(facts.ageMs)}`
  if (agoMs > PAST_MS) {
    return `${lock} was held by ${who}${age} when it was last seen, ${printedMs(agoMs)} ago.${queueOf(facts)}`
  }
  const cure =
    nearness === 'here'
      ? ' If the holder is code around this call, run both in using() or run(), so that the call re-enters.'
      : ''
  // The comma behind the owner is that of the age.
  const held = age === '' ? who.replace(/,$/, '') : `${who}${age}`
  return `${lock} is held by ${held}${leftOf(facts)}.${queueOf(facts)}${cure}`
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

function leftOf({ ttlMs, isLeastTtl }: Facts): string {
  if (ttlMs === null) return ''
  return `, and ${isLeastTtl ? 'at least ' : ''}${printedMs(ttlMs)} are left of its lease`
}

function queueOf({ queuePosition, queueLength }: Facts): string {
  if (queuePosition !== null) return ` Its place in the queue was ${queuePosition}.`
  return queueLength === null
    ? ''
    : ` ${queueLength} ${queueLength === 1 ? 'waits' : 'wait'} in its queue.`
}
