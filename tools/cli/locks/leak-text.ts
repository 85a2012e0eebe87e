import type { Leak, LeakCode } from '../../inspection/find-leaks.ts'
import { shellWord } from '../../inspection/shell-word.ts'
import { toFree } from '../../inspection/to-free.ts'
import { duration, escaped, wrapped } from '../text/words.ts'

/** One leak, as `leaks --json` prints it. */
export interface LeakReport {
  readonly code: LeakCode
  readonly name: string
  readonly key: string
  readonly owner: string | null
  readonly ttlMs: number | null
  readonly seen: string
  /** Why the leak matters to users of locks. */
  readonly why: string
  /** Commands that the user can paste into a shell. A line that begins with `#` is a remark. */
  readonly fix: readonly string[]
}

/** Why each kind of leak matters to users of locks. */
const WHY: Readonly<Record<LeakCode, string>> = {
  'lock-without-ttl':
    'The lock outlives its holder, so no other client can acquire it. PERSIST removed its TTL, or the key was restored without it.',
  'key-without-ttl':
    'Such a key normally expires. If it stays, it takes memory, and may block waiters.',
  'holder-not-renewed':
    'A watchdog would have renewed the lease by now. The process of the holder has ended or hangs, or the lease is fixed. Waiters must wait until the lease ends.',
  'queue-of-free-lock':
    'When the lock is released, the head of the queue receives it. When the lease ends, the head requests the lock. Neither has happened.',
}

export const LEAK_CODES = Object.keys(WHY) as readonly LeakCode[]

/**
 * @param name the printed name of the lock, or the key if the leak has no lock
 * @param options the options that name the servers; the printed commands contain them
 */
export function reportOf(leak: Leak, name: string, options: string): LeakReport {
  const { code, key, owner, ttlMs } = leak
  const common = { code, name, key, owner, ttlMs, why: WHY[code] }
  return { ...common, seen: seenOf(leak), fix: fixOf(leak, name, options) }
}

function seenOf({ code, owner, ttlMs, lock }: Leak): string {
  if (code === 'lock-without-ttl') return `Held by ${owner}, without a TTL.`
  if (code === 'key-without-ttl') return 'A key of Holdfast has no TTL.'
  if (code === 'holder-not-renewed') {
    return `Held by ${owner} of an unknown process. Its lease has ${duration(ttlMs ?? 0)} left and was not renewed during this check.`
  }
  return `The lock is free, but calls wait in its queue: ${lock?.queue.length}. The first live waiter is ${owner}.`
}

function fixOf({ code, lock, ttlMs, fix }: Leak, name: string, options: string): string[] {
  if (code === 'key-without-ttl') return [...fix]
  const command = lock === null ? null : toFree(lock, { name, options }).command
  const inspect = ['npx holdfast inspect', options, '--', shellWord(name)].filter(Boolean).join(' ')
  if (code === 'lock-without-ttl') {
    return ['# If its holder is certainly gone:', ...(command === null ? [inspect] : [command])]
  }
  if (code === 'holder-not-renewed') {
    const wait = `# Wait: the lock is free in ${duration(ttlMs ?? 0)}. Or, if its holder is certainly gone:`
    return [wait, ...(command === null ? [inspect] : [command])]
  }
  return [
    '# The next request for the lock moves the queue. Check if the waiting processes hang:',
    inspect,
  ]
}

export function leakText({ code, name, seen, why, fix }: LeakReport, width: number): string {
  const labelled = (label: string, lines: readonly string[]) =>
    lines.map((line, i) => `  ${(i === 0 ? label : '').padEnd(4)}  ${line}`)
  return [
    `${code}  ${escaped(name)}`,
    ...labelled('seen', wrapped(escaped(seen), width - 8)),
    ...labelled('why', wrapped(why, width - 8)),
    ...labelled('fix', fix),
  ].join('\n')
}
