import { OF_LOCK } from '../errors.ts'
import type { Clock, Timer } from '../kit/clock.ts'
import { Linked, LinkedList } from '../kit/linked-list.ts'
import type { Hold } from './hold.ts'

/** So many lines of a stack are kept, where Node.js would keep fewer: the first are of Holdfast itself, and are not told. */
const STACK_LINES = 20

/**
 * A lease that is held for longer than this has its stack written down, in milliseconds. That takes longer than all
 * else that a lock does; until then the stack keeps what it went through, the lock object too, in memory.
 */
const WRITE_DOWN_MS = 250

/** How many lines the caller is not interested in: none where all are of one file, a bundle. */
function linesOfHoldfast(lines: readonly string[]): number {
  const own = /([^\s(]+)lease[/\\]held-watch\.[jt]s:/.exec(lines[0] ?? '')?.[1]
  if (own === undefined) return 0
  return Math.max(
    lines.findIndex((line) => !line.includes(own)),
    0,
  )
}

/** One acquisition that is not released yet. It does not keep its lease from the garbage collector. */
class Held extends Linked<Held> {
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
    const [, ...lines] = (this.#trace?.stack ?? '').split('\n')
    this.#calledFrom = lines.slice(linesOfHoldfast(lines)).join('\n')
    this.#trace = undefined
  }

  /** What is wrong, and all that is known of it. */
  about(what: string, now: number): string {
    const { lockName, token, kind } = this.hold
    const { noun } = kind.words ?? OF_LOCK
    const ms = Math.round(now - this.since)
    return (
      `The lease of ${noun.toLowerCase()} "${lockName}" (token ${token}) ${what}. It has been held for ${ms} ms. An ` +
      `acquisition with \`maxHoldMs\` would end by itself. It was acquired by:\n${this.#calledFrom}`
    )
  }
}

/**
 * Warns of leases that are held for too long, and of those that nobody can release any more. Made only where
 * that is wanted, for it costs each acquisition a stack. It ends none: a lease may be meant to be held for the
 * life of its process.
 */
export class HeldWatch {
  readonly #clock: Clock
  readonly #afterMs: number
  readonly #writeDownMs: number
  /** Those whose stack is not written down, and those that were not warned of; the earliest first. */
  readonly #fresh = new LinkedList<Held>()
  readonly #written = new LinkedList<Held>()
  readonly #of = new WeakMap<object, Held>()
  readonly #collected = new FinalizationRegistry<Held>((held) => this.#leaked(held))
  #timer: Timer | undefined

  constructor(afterMs: number, clock: Clock) {
    this.#clock = clock
    this.#afterMs = afterMs
    this.#writeDownMs = Math.min(WRITE_DOWN_MS, afterMs)
  }

  /** Where a call comes from: to be asked for before it waits. */
  trace(): Error {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = Math.max(stackTraceLimit, STACK_LINES)
    const trace = new Error()
    Error.stackTraceLimit = stackTraceLimit
    return trace
  }

  /** @param lease one acquisition of the hold, until it is {@link released} */
  held(lease: object, hold: Hold, trace: Error | undefined): void {
    const held = new Held(hold, this.#clock.monotonic(), trace)
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

  close(): void {
    this.#clock.clear(this.#timer)
    this.#timer = undefined
  }

  #forget(held: Held): void {
    held.list?.remove(held)
    if (this.#fresh.size + this.#written.size === 0) this.close()
  }

  #arm(): void {
    const dueAt = Math.min(
      (this.#fresh.first?.since ?? Infinity) + this.#writeDownMs,
      (this.#written.first?.since ?? Infinity) + this.#afterMs,
    )
    if (dueAt === Infinity) return
    const ms = Math.max(Math.ceil(dueAt - this.#clock.monotonic()), 1)
    this.#timer = this.#clock.after(ms, () => this.#look()).unref()
  }

  #look(): void {
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
      // One that was lost is told of by its signal.
      if (!held.hold.live) continue
      const text = held.about('is held for long and not released yet', now)
      process.emitWarning(text, { type: 'HoldfastWarning', code: 'HOLDFAST_HELD_LONG' })
    }
    this.#arm()
  }

  /** A fixed lease ends by itself. */
  #leaked(held: Held): void {
    this.#forget(held)
    if (!held.hold.live || held.hold.renewMs === 0) return
    const text = held.about(
      'cannot be released by anybody: the program has dropped the lease and its lock object, and the watchdog ' +
        'renews it until the process ends. Keep the lease, and release it in a `finally`, or use using(). Where it ' +
        'is to be held for the life of the process keep the lease in a variable of the module',
      this.#clock.monotonic(),
    )
    process.emitWarning(text, { type: 'HoldfastWarning', code: 'HOLDFAST_LEASE_LEAKED' })
  }
}
