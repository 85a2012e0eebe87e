import { OF_LOCK } from '../errors.ts'
import type { Clock, Timer } from '../kit/clock.ts'
import { Linked, LinkedList } from '../kit/linked-list.ts'
import { publicCall } from '../kit/public-call.ts'
import { warn } from '../kit/warning.ts'
import type { Hold } from './hold.ts'
import { limitWords } from './loss.ts'

/**
 * The watch records at least this many lines of a stack. Node.js records 10 lines by default, and
 * all of them could be lines of Holdfast. The warning leaves out lines of Holdfast.
 */
const STACK_LINES = 20

/**
 * The watch converts the stack of a lease to text after this many milliseconds, or after a shorter
 * `heldWarningMs`. The conversion is slower than all other steps of a lock, so shorter holds skip
 * the conversion. Before the conversion, the stack may keep objects of the program in memory.
 */
const WRITE_DOWN_MS = 250

/**
 * The folder of all files of Holdfast: of the sources, or of the package. Undefined in a bundle of
 * the user, because this bundle has Holdfast and the program of the user in the same file.
 */
const OWN_FOLDER = /([^\s(]+)(?:lease[/\\]held-watch\.[jt]s|holdfast-shared[/\\][^/\\]+\.js):/.exec(
  new Error().stack ?? '',
)?.[1]

/**
 * Returns the lines of the stack, beginning with the code that called Holdfast. Leaves out the
 * earlier lines: lines of Holdfast, and lines of Node.js between them.
 */
function linesOfCaller(stack: string): string[] {
  const [, ...lines] = stack.split('\n')
  let first = 0
  for (const [i, line] of lines.entries()) {
    if (OWN_FOLDER !== undefined && line.includes(OWN_FOLDER)) first = i + 1
    else if (!/[( ]node:/.test(line)) break
  }
  return lines.slice(first)
}

/**
 * Returns a sentence for a warning: when the hold ends if no code releases the lock.
 *
 * @param now the time on the monotonic clock, in milliseconds
 */
function endOf(hold: Hold, now: number): string {
  const { limitAt, renewMs } = hold
  if (renewMs === 0) return `It is not renewed and ends in ${Math.round(hold.remainingMs())} ms.`
  if (limitAt === Infinity) {
    return 'It has no `maxHoldMs`, so the watchdog renews the lease until the release or the end of the process.'
  }
  const leftMs = Math.round(limitAt - now)
  return `It ends in ${leftMs} ms, when its ${limitWords(hold)} is over.`
}

/**
 * One acquisition that is not released yet. This object does not refer to the lease. Otherwise a
 * lease that the program has dropped could not be garbage-collected.
 */
class UnreleasedLease extends Linked<UnreleasedLease> {
  readonly hold: Hold
  readonly since: number
  #trace: Error | undefined
  #calledFrom = ''

  constructor(hold: Hold, since: number, trace: Error | undefined) {
    super()
    this.hold = hold
    this.since = since
    this.#trace = trace
  }

  writeDown(): void {
    if (this.#trace === undefined) return
    this.#calledFrom = linesOfCaller(this.#trace.stack ?? '').join('\n')
    this.#trace = undefined
  }

  /**
   * Returns the text of a warning.
   *
   * @param what the end of the sentence "The lease …"
   * @param now the time on the monotonic clock, in milliseconds
   */
  about(what: string, now: number): string {
    const { lockName, token, kind } = this.hold
    const { noun } = kind.words ?? OF_LOCK
    const ms = Math.round(now - this.since)
    return (
      `The lease of ${noun.toLowerCase()} "${lockName}" (token ${token}) ${what}. It has been held for ${ms} ms. ` +
      `${endOf(this.hold, now)} It was acquired by:\n${this.#calledFrom}`
    )
  }
}

/**
 * Warns about leases that are held for longer than `heldWarningMs`, and about leases that no code
 * can release any more. A warning does not end the lease. The watch records a stack for each
 * acquisition, so only clients with `heldWarningMs` have a watch.
 */
export class HeldWatch {
  readonly #clock: Clock
  readonly #afterMs: number
  readonly #writeDownMs: number
  /**
   * The acquisitions whose stack is not converted to text yet. The earliest acquisition is first.
   */
  readonly #fresh = new LinkedList<UnreleasedLease>()
  /**
   * The acquisitions whose stack is converted to text, and about which the watch has not warned
   * yet. The earliest acquisition is first.
   */
  readonly #written = new LinkedList<UnreleasedLease>()
  readonly #of = new WeakMap<object, UnreleasedLease>()
  readonly #collected = new FinalizationRegistry<UnreleasedLease>((held) => this.#leaked(held))
  #timer: Timer | undefined

  constructor(afterMs: number, clock: Clock) {
    this.#clock = clock
    this.#afterMs = afterMs
    this.#writeDownMs = Math.min(WRITE_DOWN_MS, afterMs)
  }

  /**
   * Records the stack of the user's call that is running. Must run before the first `await` of this
   * call, because a later stack does not show the user's code.
   */
  trace(): Error {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    const trace = new Error()
    Error.stackTraceLimit = Math.max(stackTraceLimit, STACK_LINES)
    // In a bundle, all lines name the same file, so `linesOfCaller` cannot recognize lines of
    // Holdfast. So the recorded stack begins with the caller of the public method.
    Error.captureStackTrace(trace, publicCall.method)
    Error.stackTraceLimit = stackTraceLimit
    return trace
  }

  /**
   * Begins to watch one acquisition of the hold, until {@link released} is called for the lease.
   */
  held(lease: object, hold: Hold, trace: Error | undefined): void {
    const held = new UnreleasedLease(hold, this.#clock.monotonic(), trace)
    this.#fresh.add(held)
    this.#of.set(lease, held)
    this.#collected.register(lease, held, held)
    if (this.#timer === undefined) this.#arm()
  }

  released(lease: object): void {
    const held = this.#of.get(lease)
    if (held === undefined) return
    this.#of.delete(lease)
    this.#collected.unregister(held)
    this.#forget(held)
  }

  stopTimer(): void {
    this.#clock.clear(this.#timer)
    this.#timer = undefined
  }

  #forget(held: UnreleasedLease): void {
    held.list?.remove(held)
    if (this.#fresh.size + this.#written.size === 0) this.stopTimer()
  }

  #arm(): void {
    const dueAt = Math.min(
      (this.#fresh.first?.since ?? Infinity) + this.#writeDownMs,
      (this.#written.first?.since ?? Infinity) + this.#afterMs,
    )
    if (dueAt === Infinity) return
    const ms = Math.max(Math.ceil(dueAt - this.#clock.monotonic()), 1)
    this.#timer = this.#clock.after(ms, () => this.#check()).unref()
  }

  #check(): void {
    this.#timer = undefined
    const now = this.#clock.monotonic()
    for (let held = this.#fresh.first; held; held = this.#fresh.first) {
      if (held.since > now - this.#writeDownMs) break
      held.writeDown()
      this.#written.add(held)
    }
    for (let held = this.#written.first; held; held = this.#written.first) {
      if (held.since > now - this.#afterMs) break
      this.#written.remove(held)
      // A lost lease needs no warning, because the signal of the lease has already aborted.
      if (!held.hold.live) continue
      const text = held.about('is held for longer than `heldWarningMs`', now)
      warn('HOLDFAST_HELD_LONG', text)
    }
    this.#arm()
  }

  /**
   * Called when the lease was garbage-collected before its release. A fixed lease ends without a
   * release, so the watch warns only about renewed leases.
   */
  #leaked(held: UnreleasedLease): void {
    this.#forget(held)
    held.writeDown()
    if (!held.hold.live || held.hold.renewMs === 0) return
    const text = held.about(
      'can no longer be released: the program has dropped the lease and its lock object. Keep the lease and ' +
        'release it in a `finally`, or use using(). To hold the lock as long as the process runs, keep the lease in a ' +
        'module variable',
      this.#clock.monotonic(),
    )
    warn('HOLDFAST_LEASE_LEAKED', text)
  }
}
