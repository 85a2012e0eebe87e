import type { Grant, LockFacts, Released, Seat } from './answers.ts'
import { Connection } from './connection.ts'
import { CallFailure } from './failure.ts'
import type { LockKeys } from './keys.ts'
import type { RedisSource } from './open.ts'
import { runScript, type Script } from './run-script.ts'
import * as scripts from './scripts.generated.ts'
import { ServerClock } from './server-clock.ts'
import { groupBySlot } from './slot.ts'
import { type Listening, WakeUps } from './wake-ups.ts'

/** A counter outlives its last use by this long, in milliseconds: a day. */
const COUNTER_MS = 86_400_000

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
    events: { up(): void; error(error: Error): void },
  ) {
    this.#connection = new Connection(source, timeoutMs, {
      up: (facts) => {
        this.#clock.set(facts.clockOffsetMs, facts.clockDoubtMs)
        events.up()
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
    const [kind, detail] = await this.#timed(scripts.release, keys, timeoutMs, (notAfterUs) => [
      owner,
      holds,
      token,
      notAfterUs,
      keys.channel,
      'PUBLISH',
    ])
    if (kind === 'freed') return { kind, listeners: Number(detail) }
    return { kind: kind as 'kept' | 'gone' }
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
    await Promise.all(this.groups(seats).map(renewGroup))
    return left
  }

  /** The indices of the seats, those that one request can carry together. */
  groups(seats: readonly Seat[]): number[][] {
    return this.#connection.clustered ? groupBySlot(seats) : [[...seats.keys()]]
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

  /** How long after its deadline a request may still run, in milliseconds. */
  get lateAtMostMs(): number {
    return this.#clock.lateAtMostMs
  }

  connect(): void {
    this.#connection.connect()
  }

  get whyDown(): CallFailure | undefined {
    return this.#connection.whyDown
  }

  get everUp(): boolean {
    return this.#connection.everUp
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

  async #grant(
    script: Script,
    keys: LockKeys,
    timeoutMs: number,
    args: (notAfterUs: number) => (string | number)[],
  ): Promise<Grant> {
    const [kind, detail] = await this.#timed(script, keys, timeoutMs, args)
    if (kind === 'granted') return { kind, token: Number(detail) }
    if (kind === 'held') return { kind, ttlMs: Number(detail) }
    if (kind === 'yielded') return { kind, others: Number(detail) }
    return { kind: 'gone' }
  }

  /** Tells the script until when it may run; where the clocks had come apart, tells it once more. */
  async #timed(
    script: Script,
    keys: LockKeys,
    timeoutMs: number,
    args: (notAfterUs: number) => (string | number)[],
  ): Promise<[kind: string, detail: unknown]> {
    const endsAt = performance.now() + timeoutMs
    for (let leftMs = timeoutMs; leftMs > 0; leftMs = endsAt - performance.now()) {
      const reply = await this.#run(script, keys, args(this.#clock.inUs(leftMs)), leftMs)
      const [kind, detail] = reply as [string, unknown]
      if (kind !== 'late') return [kind, detail]
      this.#clock.heard(Number(detail))
    }
    throw new CallFailure('unsent', 'it came too late to be done')
  }
}
