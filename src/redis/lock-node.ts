import { Connection, type ServerFacts } from './connection.ts'
import { CallFailure } from './failure.ts'
import type { LockKeys } from './keys.ts'
import type { RedisSource } from './open.ts'
import { runScript, type Script } from './run-script.ts'
import * as scripts from './scripts.generated.ts'
import { ServerClock } from './server-clock.ts'
import { slotOf } from './slot.ts'
import { type Listening, WakeUps } from './wake-ups.ts'

/** What an acquire or a hand-over was answered. */
export type Grant =
  | { readonly kind: 'granted'; readonly token: number }
  | { readonly kind: 'held'; readonly ttlMs: number }
  | { readonly kind: 'yielded' }
  | { readonly kind: 'gone' }

export type Released = 'freed' | 'kept' | 'gone'

/** One lock as the server sees it. */
export interface LockFacts {
  /** `<clientId>:<owner>`, or null when the lock is free. */
  readonly holder: string | null
  readonly holdCount: number
  /** What is left of its lease in milliseconds; null when the lock is free or never expires. */
  readonly ttlMs: number | null
  /** The last fencing token issued, or null when none is remembered. */
  readonly token: number | null
  /** Connections that listen for a release: one for each client with waiters. */
  readonly waiters: number
}

/** A counter outlives its last use by this long, in milliseconds: a day. */
const COUNTER_MS = 86_400_000

/** Renewing one lock of many: its key, and the owner as Redis knows it. */
export interface Seat {
  readonly key: string
  readonly wireOwner: string
}

/**
 * One server (or cluster) as the locks see it: what can be asked, and what it answers. Every call
 * ends within its `timeoutMs`, and rejects with a {@link CallFailure} and nothing else.
 */
export class LockNode {
  readonly #connection: Connection
  readonly #wakeUps: WakeUps
  readonly #clock = new ServerClock()

  constructor(
    source: RedisSource,
    timeoutMs: number,
    events: { up(facts: ServerFacts): void; error(error: Error): void },
  ) {
    this.#connection = new Connection(source, timeoutMs, {
      up: (facts) => {
        this.#clock.set(facts.clockOffsetMs)
        events.up(facts)
      },
      down: () => {},
      error: events.error,
    })
    this.#wakeUps = new WakeUps(source, timeoutMs, events.error)
  }

  /** Takes the lock, or re-enters it when `holds`, the count wanted afterwards, is above 1. */
  acquire(
    keys: LockKeys,
    owner: string,
    leaseMs: number,
    holds: number,
    timeoutMs: number,
  ): Promise<Grant> {
    return this.#grant(scripts.acquire, keys, timeoutMs, (notAfterUs) => [
      owner,
      leaseMs,
      holds,
      notAfterUs,
      COUNTER_MS,
    ])
  }

  /**
   * Passes the lock from one owner of this client to another.
   *
   * @param listening how many of the channel's listeners are this client's own, when the lock is
   * to be freed for others who listen; null when it is to stay in this client
   */
  handOver(
    keys: LockKeys,
    from: { owner: string; token: number },
    to: { owner: string; leaseMs: number },
    listening: number | null,
    timeoutMs: number,
  ): Promise<Grant> {
    return this.#grant(scripts.handOver, keys, timeoutMs, (notAfterUs) => [
      from.owner,
      from.token,
      to.owner,
      to.leaseMs,
      notAfterUs,
      COUNTER_MS,
      keys.channel,
      'PUBLISH',
      listening ?? '',
    ])
  }

  /**
   * @param holds the count wanted afterwards; 0 frees the lock
   * @param token of the hold; '' ends whatever hold that owner has
   */
  async release(
    keys: LockKeys,
    owner: string,
    holds: number,
    token: number | '',
    timeoutMs: number,
  ): Promise<Released> {
    const args = [owner, holds, token, keys.channel, 'PUBLISH']
    return (await this.#run(scripts.release, keys, args, timeoutMs)) as Released
  }

  /**
   * Renews many leases at once; a `leaseMs` of 0 only looks.
   *
   * @returns for each seat what is left of its lease in milliseconds, -1 without an expiry, -2 when
   * its owner does not hold it; or the failure of the call that it was part of
   */
  async renew(
    seats: readonly Seat[],
    leaseMs: number,
    timeoutMs: number,
  ): Promise<(number | CallFailure)[]> {
    const left: (number | CallFailure)[] = new Array(seats.length)
    const renewGroup = async (indices: number[]) => {
      const group = indices.map((i) => seats[i] as Seat)
      const keys = group.map((seat) => seat.key)
      const args = [leaseMs, ...group.map((seat) => seat.wireOwner)]
      const reply = await runScript(this.#connection, scripts.renew, keys, args, timeoutMs).catch(
        (failure: CallFailure) => failure,
      )
      for (const [n, i] of indices.entries()) {
        left[i] = reply instanceof CallFailure ? reply : Number((reply as unknown[])[n])
      }
    }
    await Promise.all(this.#slots(seats).map(renewGroup))
    return left
  }

  /** @returns whether the lock was held by anybody */
  async forceRelease(keys: LockKeys, timeoutMs: number): Promise<boolean> {
    const args = [keys.channel, 'PUBLISH']
    const reply = await runScript(
      this.#connection,
      scripts.forceRelease,
      [keys.lock],
      args,
      timeoutMs,
    )
    return Number(reply) === 1
  }

  async inspect(keys: LockKeys, timeoutMs: number): Promise<LockFacts> {
    const reply = await this.#run(scripts.inspect, keys, [keys.channel], timeoutMs)
    const [holder, holds, ttlMs, token, listeners] = reply as [
      string,
      string,
      number,
      string,
      number,
    ]
    return {
      holder: holder === '' ? null : holder,
      holdCount: Number(holds),
      ttlMs: Number(ttlMs) < 0 ? null : Number(ttlMs),
      token: token === '' ? null : Number(token),
      waiters: Number(listeners),
    }
  }

  /** Calls `onWake` when it is worth looking at the lock again. */
  listen(keys: LockKeys, onWake: () => void): Listening {
    return this.#wakeUps.listen(keys.channel, onWake)
  }

  close(): void {
    this.#wakeUps.close()
    this.#connection.close()
  }

  #run(
    script: Script,
    keys: LockKeys,
    args: readonly (string | number)[],
    timeoutMs: number,
  ): Promise<unknown> {
    return runScript(this.#connection, script, [keys.lock, keys.counter], args, timeoutMs)
  }

  /** Tells the script until when it may run; where the clocks had come apart, tells it once more. */
  async #grant(
    script: Script,
    keys: LockKeys,
    timeoutMs: number,
    args: (notAfterUs: number) => (string | number)[],
  ): Promise<Grant> {
    const start = performance.now()
    for (let leftMs = timeoutMs; ; leftMs = timeoutMs - (performance.now() - start)) {
      const reply = (await this.#run(script, keys, args(this.#clock.inUs(leftMs)), leftMs)) as [
        Grant['kind'] | 'late',
        string | number,
      ]
      if (reply[0] === 'granted') return { kind: 'granted', token: Number(reply[1]) }
      if (reply[0] === 'held') return { kind: 'held', ttlMs: Number(reply[1]) }
      if (reply[0] !== 'late') return { kind: reply[0] }
      this.#clock.heard(Number(reply[1]))
      if (leftMs <= 0) throw new CallFailure('unsent', 'it came too late to be granted')
    }
  }

  #slots(seats: readonly Seat[]): number[][] {
    if (!this.#connection.clustered) return [[...seats.keys()]]
    const slots = new Map<number, number[]>()
    for (const [i, { key }] of seats.entries()) {
      const slot = slotOf(key)
      const group = slots.get(slot)
      if (group === undefined) slots.set(slot, [i])
      else group.push(i)
    }
    return [...slots.values()]
  }
}
