import { type RowKind, viewOf } from '../kinds/all.ts'
import type { HolderRow, LockDetail, ProcessFacts, WaiterRow } from './inspection.ts'
import { shellWord } from './shell-word.ts'

/**
 * The result of two reads of a lease. `unknown`: there was only one read, or the reads cannot be
 * compared.
 */
export type RenewalCheck = 'renewed' | 'not-renewed' | 'unknown'

/** How a lock becomes free, and the command for a forced release. */
export interface ToFree {
  /** Sentences for users that explain how the lock becomes free. */
  readonly sentences: readonly string[]
  /**
   * How long it takes until the lock is free if no user acts, in milliseconds. 0 for a free lock.
   * Null if unknown, as for a kind without known holders.
   */
  readonly waitMs: number | null
  /**
   * The command that takes the lock from its first holder by force. Null if no holder is known, or
   * if no shell can pass the name of the lock.
   */
  readonly command: string | null
}

/** The most holders that the sentences describe. */
const MOST = 3

/**
 * A process has probably ended if the last report of its client is older than this, in
 * milliseconds. A live client that sends requests usually reports itself every 20 s.
 */
const LATE_MS = 45_000

type FreeableLock = Pick<
  LockDetail,
  'kind' | 'holders' | 'token' | 'queue' | 'waiting' | 'count' | 'stateText'
>

/**
 * Explains how to free a lock of any kind.
 *
 * @param name the name of the lock for `npx holdfast release`
 * @param options the options that name the servers, such as `--url=redis://…`
 * @param renewalOf tells if the owner's lease was renewed between two reads of the lease. Always `unknown` by default
 */
export function toFree(
  detail: FreeableLock,
  {
    name,
    options = '',
    renewalOf = () => 'unknown',
  }: { name: string; options?: string; renewalOf?: (owner: string) => RenewalCheck },
): ToFree {
  const { holders } = detail
  const { toFree: withoutHolders, endOfHold } = viewOf(detail.kind)
  if (withoutHolders !== undefined) {
    return { sentences: withoutHolders(detail), waitMs: null, command: null }
  }
  if (holders.length === 0) return { sentences: [ofFree(detail)], waitMs: 0, command: null }
  const sentences = holders
    .slice(0, MOST)
    .map((holder) => ofHolder(detail, holder, renewalOf(holder.owner)))
  if (holders.length > MOST)
    sentences.push(`${holders.length - MOST} more holders are listed above.`)
  if (endOfHold !== undefined) sentences.push(endOfHold)
  const isEnding = (one: HolderRow) => one.ttlMs !== null && renewalOf(one.owner) !== 'renewed'
  const waitMs = holders.every(isEnding)
    ? Math.max(...holders.map(({ ttlMs }) => ttlMs ?? 0))
    : null
  const command = commandOf(detail, name, options)
  if (command === null) {
    sentences.push(
      'Its name contains a NUL byte, which a shell cannot pass: release it in the dashboard.',
    )
  }
  return { sentences, waitMs, command }
}

function ofFree(detail: FreeableLock): string {
  const { waiting, queue } = detail
  const { toUse, whenFree: it = 'it is free' } = viewOf(detail.kind)
  const first = toUse?.(detail)
  if (first !== undefined) return first
  if (waiting === 0) {
    return queue.some(({ isDead }) => isDead)
      ? `Nothing: ${it}. The waiters in its queue are dead, and leave the queue within seconds.`
      : `Nothing: ${it}.`
  }
  return `Nothing: ${it}. The next waiter was woken, or asks again within seconds.`
}

function ofHolder(detail: FreeableLock, holder: HolderRow, renewal: RenewalCheck): string {
  const { owner, process, ttlMs, isRedisson } = holder
  const who = process?.label ?? (detail.holders.length > 1 ? owner : 'Its holder')
  if (ttlMs === null) {
    return `${who} holds it without an expiry. So the hold never ends, even if the process is gone.`
  }
  const wait = `${Math.ceil(ttlMs / 1_000)} s`
  if (process !== null) {
    return `${who} ${lifeOf(process, renewal, detail.queue)}. Then wait at most ${wait}, until its lease ends.`
  }
  if (renewal === 'renewed') {
    return `${who} renews its lease and does not report its process: search the logs for ${owner}.`
  }
  const sentence = viewOf(detail.kind).ofUnknown?.(owner, wait)
  if (sentence !== undefined) return sentence
  const why = isRedisson
    ? 'a thread of Redisson'
    : 'a process that is gone or does not report itself'
  return `${who} is ${why}: its lease ends in ${wait}, unless it is renewed.`
}

/** Returns words that say if the process is probably alive, and what the user should do. */
function lifeOf(process: ProcessFacts, renewal: RenewalCheck, queue: readonly WaiterRow[]): string {
  const { pid, host, seenMs } = process
  if (renewal === 'renewed') {
    return `is alive and renews its lease: let it finish, or end process ${pid} on ${host}`
  }
  const seen = seenMs === null ? 'within the last minutes' : `${ago(seenMs)} ago`
  const isDeadWaiter = queue.some((one) => one.isDead && one.process?.client === process.client)
  if (isDeadWaiter) {
    return `is probably gone: its heartbeat has stopped, and it was last seen ${seen}. Check if process ${pid} on ${host} still runs, and end it`
  }
  if (seenMs !== null && seenMs > LATE_MS) {
    return `is probably gone: it was last seen ${seen}, and reports itself every 20 s. Check if process ${pid} on ${host} still runs, and end it`
  }
  return `was last seen ${seen}: let it finish if process ${pid} on ${host} still runs, or end that process`
}

function ago(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`
}

/**
 * Returns the command that takes the lock; null if no shell can pass the name. The name follows
 * `--`, because a name may begin with a dash or look like a URL.
 */
function commandOf(
  { kind, holders, token }: { kind: RowKind } & Pick<LockDetail, 'holders' | 'token'>,
  name: string,
  options: string,
): string | null {
  if (name.includes('\0')) return null
  const words = ['npx holdfast release --force']
  const [first, second] = holders
  // Names the owner if a release of this kind has no fence, or if there are several holders.
  // Otherwise the token identifies the hold.
  if (viewOf(kind).hasFence === false || second !== undefined) {
    words.push(`--owner=${shellWord(first?.owner ?? '')}`)
  } else if (token !== null) words.push('--token', `${token}`)
  if (options !== '') words.push(options)
  return [...words, '--', shellWord(name)].join(' ')
}
