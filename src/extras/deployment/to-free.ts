import type { HolderRow, LockDetail, RowKind } from './rows.ts'

/** Whether a lease was seen to be renewed between two looks; `unknown` without a second look. */
export type Renewal = 'renewed' | 'not-renewed' | 'unknown'

/** What it would take to free a lock. */
export interface ToFree {
  /** For people. */
  readonly sentences: readonly string[]
  /** Until when it is free when nobody does anything, in milliseconds; null where that cannot be told. */
  readonly waitMs: number | null
  /** What takes it from who has it now, the first of several, and from nobody else; null where there is nobody. */
  readonly command: string | null
}

/** No more holders are told of one by one. */
const MOST = 3

/**
 * What it would take to free a lock, for any kind.
 *
 * @param name as `npx holdfast release` is to be called with it
 * @param options that tell where it is, such as `--url redis://…`
 * @param renewalOf what two looks have shown of its holders
 */
export function toFree(
  detail: Pick<LockDetail, 'kind' | 'holders' | 'token' | 'queue' | 'waiting' | 'more'>,
  {
    name,
    options = '',
    renewalOf = () => 'unknown',
  }: { name: string; options?: string; renewalOf?: (owner: string) => Renewal },
): ToFree {
  const { kind, holders } = detail
  if (kind === 'latch') {
    const text = `Nobody holds a latch: it opens when it has been counted down ${detail.more.count ?? 'often enough'} more, or with delete() of its CountDownLatch.`
    return { sentences: [text], waitMs: null, command: null }
  }
  if (kind === 'semaphore') {
    const text =
      'Permits without leases have no holder: what a process has taken with it is given back with addPermits(n), once it is certain that it has ended.'
    return { sentences: [text], waitMs: null, command: null }
  }
  if (holders.length === 0) return { sentences: [ofFree(detail)], waitMs: 0, command: null }
  const sentences = holders
    .slice(0, MOST)
    .map((holder) => ofHolder(kind, holder, renewalOf(holder.owner), holders.length > 1))
  if (holders.length > MOST) sentences.push(`So it is with ${holders.length - MOST} more.`)
  const isEnding = (one: HolderRow) => one.ttlMs !== null && renewalOf(one.owner) !== 'renewed'
  const waitMs = holders.every(isEnding)
    ? Math.max(...holders.map(({ ttlMs }) => ttlMs ?? 0))
    : null
  if (kind === 'permits') {
    sentences.push('A permit comes back with its release, or with the end of its lease.')
  }
  return { sentences, waitMs, command: commandOf(detail, name, options) }
}

function ofFree({ waiting, queue }: Pick<LockDetail, 'waiting' | 'queue'>): string {
  if (waiting === 0) return 'Nothing: it is free.'
  if (queue.length > 0 && queue.every(({ isDead }) => isDead)) {
    return 'Nothing: it is free. Those who stand in its queue have stopped, and fall out of it within seconds.'
  }
  return 'Nothing: it is free, and who waits has been told, or asks again within seconds.'
}

function ofHolder(
  kind: RowKind,
  { owner, process, ttlMs, isRedisson }: HolderRow,
  renewal: Renewal,
  isOneOfMany: boolean,
): string {
  const who = process?.label ?? (isOneOfMany ? owner : 'Its holder')
  if (ttlMs === null) {
    return `${who} has it without an expiry: it never ends by itself, whatever becomes of the process.`
  }
  const wait = `${Math.ceil(ttlMs / 1_000)} s`
  if (process !== null) {
    const { pid, host } = process
    const how = renewal === 'renewed' ? 'and renews it' : 'or was within the last two minutes'
    return `${who} is alive, ${how}: let it finish, or end process ${pid} on ${host}. Then wait ${wait} at most, for the end of its lease.`
  }
  if (renewal === 'renewed') {
    return `${who} renews it, and does not tell which process it is: find it by ${owner} in the logs.`
  }
  if (kind === 'permits')
    return `The lease of ${owner} has ${wait} left, unless it is renewed: which process has it is not known.`
  const why = isRedisson ? 'of Redisson' : 'of a process that is gone, or does not tell of itself'
  return `${who} is ${why}: wait ${wait}, and the lease has ended, unless it is renewed until then.`
}

/** One of several is named; their tokens come and go. */
function commandOf(
  { kind, holders, token }: Pick<LockDetail, 'kind' | 'holders' | 'token'>,
  name: string,
  options: string,
): string {
  const words = ['npx holdfast release', shellWord(name), '--force']
  const [first, second] = holders
  if (kind === 'permits' || second !== undefined)
    words.push('--owner', shellWord(first?.owner ?? ''))
  else if (token !== null) words.push('--token', `${token}`)
  return [...words, options].join(' ').trim()
}

/** Text as one word of a shell; what it cannot show on one line is written as in C. */
export function shellWord(text: string): string {
  if (/^[\w:./@%+=,-]+$/.test(text)) return text
  const quoted = text.replaceAll("'", `'\\''`)
  if (!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)) return `'${quoted}'`
  const bytes = [...Buffer.from(text)].map((byte) => {
    const char = String.fromCharCode(byte)
    return /[\w:./@-]/.test(char) ? char : `\\x${byte.toString(16).padStart(2, '0')}`
  })
  // A hex digit behind an escape would be taken for a part of it.
  return `$'${bytes.join('').replace(/(\\x[0-9a-f]{2})(?=[0-9a-fA-F])/g, "$1'$'")}'`
}
