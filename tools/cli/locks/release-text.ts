import type { Forced, HolderRow, LockDetail } from '../../inspection/inspection.ts'
import { viewOf } from '../../kinds/all.ts'
import { counted, duration, escaped } from '../text/words.ts'

/** The outcome, as `--json` prints it. */
export interface ReleaseResult extends Forced {
  readonly name: string
  readonly key: string
  /**
   * The holder that should lose the lock. The first current holder if the given owner was not
   * found, or if the given token is not the last token. Null if the lock was already free.
   */
  readonly holder: HolderRow | null
  /** The last token before the release. Null if the lock has no known token. */
  readonly token: number | null
}

/**
 * Returns the text that the command prints before a release by force: the holder, the next waiter,
 * and the consequences.
 *
 * @param permit the id of the only permit to take; undefined to take all permits of the holder
 */
export function before(
  detail: LockDetail,
  holder: HolderRow,
  address: string,
  permit?: string,
): string {
  const { key, kind, state, token } = detail
  const { process, owner, ageMs, ttlMs, holdCount } = holder
  const lease = ttlMs === null ? 'no lease: it never expires' : `${duration(ttlMs)} left`
  const ends = permit === undefined ? 'all of them end' : `only ${permit} ends`
  const facts = [
    ['held by', process === null ? unknownProcess(holder) : escaped(process.label)],
    ...(process === null ? [] : [['process', `${process.pid} on ${escaped(process.host)}`]]),
    ['owner', escaped(owner)],
    ['for', ageMs === null ? 'not known' : duration(ageMs)],
    ['lease', lease],
    ...(holdCount > 1 ? [['holds', `${holdCount}, ${ends}`]] : []),
    ['token', token === null ? 'none is known' : `${token}`],
    ['waiting', waiting(detail)],
  ]
  return `"${escaped(key)}" (${kind}, ${state}) at ${address}
${facts.map(([what = '', text]) => `  ${what.padEnd(8)}  ${text}\n`).join('')}
${consequences(detail, holder).join('\n')}

`
}

function unknownProcess({ isRedisson }: HolderRow): string {
  return isRedisson ? 'a thread of Redisson' : 'an unknown process, or one that is gone'
}

function waiting({ waiting, queue }: LockDetail): string {
  if (waiting === 0) return 'none'
  const [next] = queue.filter(({ isDead }) => !isDead)
  if (next === undefined) return `${counted(waiting, 'client')}, in no order`
  return `${waiting}, next ${escaped(next.process?.label ?? next.owner)}`
}

function consequences({ token, kind, holders }: LockDetail, { process }: HolderRow): string[] {
  const who = process === null ? 'the holder' : escaped(process.label)
  const others = viewOf(kind).hasFence === false || holders.length > 1
  const fence =
    token === null
      ? 'Afterwards this command shows which tokens your store must refuse.'
      : `The fence is ${token}: your store must refuse all tokens up to ${token}. Every later token will be above the fence.`
  return [
    `The release does not stop ${who}: the holder notices the release at its next renewal, and may continue until then.`,
    others
      ? 'There will be no fence: a store that refuses all tokens up to a fence could also refuse the other holders.'
      : fence,
  ]
}

/** Returns the text after the release: the outcome, and what the user should do. */
export function released({ key, outcome, fence, holder }: ReleaseResult, address: string): string {
  const name = `"${escaped(key)}"`
  const who = holder === null ? 'its holder' : escaped(holder.process?.label ?? holder.owner)
  if (outcome === 'free') {
    return holder === null
      ? `${name} is free at ${address}. If this is wrong, check the name and its keyPrefix.\n`
      : `${name} was already free: ${who} released it, or its lease had ended.\n`
  }
  if (outcome === 'changed') {
    return `Nothing was done: ${name} has another holder by now. npx holdfast inspect shows the holder.\n`
  }
  const { process } = holder ?? {}
  const steps = [
    process ? `End process ${process.pid} on ${escaped(process.host)}, if it hangs.` : undefined,
    fence === null
      ? undefined
      : `If your store keeps the last token, raise that token to ${fence + 1}. The store then refuses ${who} at once, and accepts all later holders.`,
  ].filter((step) => step !== undefined)
  const todo = steps.map((step, i) => `${i + 1}. ${step}\n`).join('')
  const fenceLine = fence === null ? '' : `The fence is ${fence}.\n`
  return `${name} was taken from ${who}. The next waiter was notified.\n${fenceLine}${todo}`
}
