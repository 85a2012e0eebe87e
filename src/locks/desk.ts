import { setTimeout as pause } from 'node:timers/promises'
import { ClosedError, InvalidArgumentError } from '../errors.ts'
import type { Lease } from '../lease/lease.ts'
import type { MultiLease } from '../lease/multi-lease.ts'
import type { Frames } from '../owner/frames.ts'
import type { Owner } from '../owner/owner.ts'
import type { Owners } from '../owner/owners.ts'
import { CallFailure } from '../redis/failure.ts'
import { Contender } from './contender.ts'
import type { Context } from './context.ts'
import { Holdings } from './holdings.ts'
import { Patience } from './patience.ts'

/** So many locks that nobody has or wants are kept in mind, for whoever wants them next. */
const MOST_IDLE = 512

/** Where the lock objects of one client meet: one contender for each name in use. */
export class Desk {
  readonly frames: Frames
  readonly holdings = new Holdings<Lease>()
  readonly groups = new Holdings<MultiLease>()
  readonly leaseMs: number
  readonly #longestLeaseMs: number
  readonly #owners: Owners
  readonly #context: Context
  readonly #contenders = new Map<string, Contender>()
  /** Those that may be idle. */
  readonly #idle = new Set<string>()
  #closed = false

  constructor(
    owners: Owners,
    context: Context,
    frames: Frames,
    leaseMs: number,
    longestLeaseMs = Infinity,
  ) {
    this.#longestLeaseMs = longestLeaseMs
    this.#owners = owners
    this.#context = context
    this.frames = frames
    this.leaseMs = leaseMs
  }

  get clientId(): string {
    return this.#owners.clientId
  }

  get node() {
    return this.#context.node
  }

  get limits() {
    return this.#context.limits
  }

  get tell() {
    return this.#context.tell
  }

  newOwner(): Owner {
    return this.#owners.next()
  }

  /** Puts a question to Redis that changes no hold, and takes failures as every other call does. */
  async ask<T>(lockName: string, failed: string, call: (callMs: number) => Promise<T>): Promise<T> {
    this.assertOpen(lockName)
    const patience = new Patience(lockName, this.#context.limits)
    for (;;) {
      const sentAt = performance.now()
      try {
        return await call(patience.callMs)
      } catch (error) {
        if (!(error instanceof CallFailure)) throw error
        const pauseMs = patience.failed(error, sentAt)
        if (pauseMs === null) throw patience.error(failed)
        await pause(pauseMs)
      }
    }
  }

  /** How many locks are kept in mind. */
  get size(): number {
    return this.#contenders.size
  }

  /** The contender for a lock that is held or waited for here; undefined when it is neither. */
  find(rawName: string): Contender | undefined {
    const contender = this.#contenders.get(rawName)
    return contender?.isIdle ? undefined : contender
  }

  contender(name: string, rawName: string): Contender {
    let contender = this.#contenders.get(rawName)
    if (contender === undefined) {
      contender = new Contender(name, rawName, this.#context, () => this.#becameIdle(rawName))
      this.#contenders.set(rawName, contender)
    }
    return contender
  }

  #becameIdle(rawName: string): void {
    this.#idle.add(rawName)
    if (this.#idle.size <= MOST_IDLE) return
    for (const name of this.#idle) {
      if (this.#contenders.get(name)?.isIdle) this.#contenders.delete(name)
    }
    this.#idle.clear()
  }

  assertOpen(lockName?: string): void {
    if (this.#closed) throw closedError(lockName)
  }

  /** A master that may have forgotten rests for the longest lease, and for no longer. */
  assertNotLonger(lockName: string, leaseMs = 0): void {
    const longest = this.#longestLeaseMs
    if (leaseMs <= longest) return
    throw new InvalidArgumentError(
      `Lock "${lockName}": a lease of ${leaseMs} ms is longer than \`longestLeaseMs\`, which is ${longest}. ` +
        'Raise that option for all clients of these masters, or let the watchdog renew a shorter lease.',
      lockName,
    )
  }

  /** Releases what is held and lets nobody wait any more. */
  async close(): Promise<void> {
    this.#closed = true
    this.holdings.close()
    this.groups.close()
    const contenders = [...this.#contenders.values()]
    await Promise.all(contenders.map((one) => one.close(closedError(one.name))))
  }
}

function closedError(lockName?: string): ClosedError {
  return new ClosedError(
    'This Holdfast client was closed: nothing waits or is held by it any more. Make a new one.',
    lockName,
  )
}
