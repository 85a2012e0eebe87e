import { acquireAll, type GrantOfAll, type Named } from './acquire-all.ts'
import { withCounts } from './acquire-args.ts'
import { type Grant, type LockFacts, MOST_LISTED, type Released, type Seat } from './answers.ts'
import { Connection } from './connection.ts'
import {
  freedOf,
  grantOf,
  handedOverOf,
  handedOverOrYieldedOf,
  keptOf,
  lockFacts,
  reentryOf,
} from './decode.ts'
import type { CallFailure } from './failure.ts'
import { forceRelease, type Seen, seenIn } from './force.ts'
import { Identity } from './identity.ts'
import { type LockKeys, queueKeys } from './keys.ts'
import { LockCalls } from './lock-calls.ts'
import type { RedisSource } from './open.ts'
import { renewSeats } from './renew-seats.ts'
import * as scripts from './scripts.generated.ts'
import { ServerClock } from './server-clock.ts'
import { groupBySlot } from './slot.ts'
import { type Listening, WakeUps } from './wake-ups.ts'

/**
 * One server (or cluster) as the locks see it: what can be asked, and what it answers. Every call
 * ends within its `timeoutMs`, and rejects with a {@link CallFailure} and nothing else.
 */
export class LockNode {
  readonly #connection: Connection
  readonly #wakeUps: WakeUps
  readonly #clock = new ServerClock()
  /** How long a token counter outlives its last use; 0 keeps it for good. All on one connection agree. */
  readonly counterMs: number
  readonly #identity: Identity
  readonly #onUp = new Set<() => void>()
  readonly source: RedisSource
  readonly calls: LockCalls

  /**
   * @param options.counterMs how long a token counter outlives its last use; 0 keeps it for good
   * @param options.sharded whether a cluster that has sharded channels is to use them
   */
  constructor(
    source: RedisSource,
    timeoutMs: number,
    onError: (error: Error) => void,
    { counterMs = 0, sharded = true } = {},
  ) {
    this.counterMs = counterMs
    this.source = source
    const settings = { source, silenceMs: timeoutMs, sharded }
    this.#connection = new Connection(settings, {
      up: (facts) => {
        this.#clock.set(facts.clockOffsetMs, facts.clockDoubtMs)
        this.#wakeUps.follow(facts.runId)
        for (const onUp of [...this.#onUp]) onUp()
      },
      down: () => {},
      error: onError,
    })
    this.calls = new LockCalls(this.#connection, this.#clock)
    this.#identity = new Identity(this.#connection)
    this.#wakeUps = new WakeUps(settings, onError)
  }

  /**
   * Takes the lock, or re-enters it.
   *
   * @param holds the count wanted afterwards
   * @param reserve how many tokens are wanted beside the one
   * @param token of the hold that is re-entered; left out for a first acquisition
   */
  acquire(
    keys: LockKeys,
    owner: string,
    leaseMs: number,
    holds: number,
    timeoutMs: number,
    reserve = 0,
    token?: number,
  ): Promise<Grant> {
    const args = (notAfterUs: number) =>
      withCounts([owner, leaseMs, notAfterUs, this.counterMs], holds, reserve, token)
    const read = token === undefined ? grantOf : reentryOf
    return this.calls.timed(scripts.acquire, keys.both, args, timeoutMs, read)
  }

  /** Takes several locks of one slot at once, or none. */
  acquireAll(seats: readonly Named[], leaseMs: number, timeoutMs: number): Promise<GrantOfAll> {
    return acquireAll(this.calls, seats, leaseMs, this.counterMs, timeoutMs)
  }

  /**
   * Passes the lock from one owner of this client to another.
   *
   * @param listening how many of the channel's listeners are this client's own, when the lock is
   * to be freed for others who listen; null when it is to stay in this client
   * @param reserve how many tokens are wanted beside the one
   * @param isVote whether it is one master of several
   */
  handOver(
    keys: LockKeys,
    from: { owner: string; token: number },
    to: { owner: string; leaseMs: number },
    listening: number | null,
    timeoutMs: number,
    reserve = 0,
    isVote = false,
  ): Promise<Grant> {
    const args = (notAfterUs: number) => [
      from.owner,
      from.token,
      to.owner,
      to.leaseMs,
      notAfterUs,
      this.counterMs,
      keys.channel,
      this.calls.publish,
      listening ?? '',
      isVote ? 1 : '',
      reserve,
    ]
    const read = listening === null ? handedOverOf : handedOverOrYieldedOf
    return this.calls.timed(scripts.handOver, keys.both, args, timeoutMs, read)
  }

  /**
   * @param holds the count wanted afterwards; 0 frees the lock
   * @param token of the hold; '' ends whatever hold that owner has
   */
  release(
    keys: LockKeys,
    owner: string,
    holds: number,
    token: number | '',
    timeoutMs: number,
  ): Promise<Released> {
    const { channel } = keys
    const args = (notAfterUs: number) => {
      const needed = [owner, token, channel, this.calls.publish]
      return holds > 0 ? [...needed, holds, notAfterUs] : needed
    }
    const read = holds > 0 ? keptOf : freedOf
    // Meanwhile the count may have been raised again.
    return this.calls.timed(scripts.release, keys.both, args, timeoutMs, read, holds === 0)
  }

  /**
   * Renews many leases at once; a `leaseMs` of 0 only looks.
   *
   * @returns for each seat what is left of its lease in milliseconds, -1 without an expiry, -2 when
   * its owner does not hold it; or the failure of the call that it was part of
   */
  renew(
    seats: readonly Seat[],
    leaseMs: number,
    timeoutMs: number,
  ): Promise<(number | CallFailure)[]> {
    return renewSeats(this.calls, seats, this.groups(seats), leaseMs, this.counterMs, timeoutMs)
  }

  /** The indices of the seats, those that one request can carry together. */
  groups(seats: readonly Pick<Seat, 'key'>[]): number[][] {
    return this.#connection.clustered ? groupBySlot(seats) : [[...seats.keys()]]
  }

  /** The hold that force would end; null when the lock is free. */
  seen(keys: LockKeys, timeoutMs: number): Promise<Seen | null> {
    return this.inspect(keys, timeoutMs, 0).then(seenIn)
  }

  /** Ends that hold and no other: whether it was there still. */
  forceRelease(keys: LockKeys, seen: Seen, timeoutMs: number): Promise<boolean> {
    return forceRelease(this.calls, keys, seen, timeoutMs)
  }

  /** @param most how many of those who queue are listed; 0 leaves out who waits altogether */
  inspect(keys: LockKeys, timeoutMs: number, most = MOST_LISTED): Promise<LockFacts> {
    const { queue, waiting } = queueKeys(keys.lock)
    const all = [...keys.both, queue, waiting]
    const args = () => [keys.channel, this.calls.publish, most]
    return this.calls.run(scripts.inspect, all, args, timeoutMs, lockFacts)
  }

  /** Calls `onWake` with each message, and without one when any may have been missed. */
  listen(keys: Pick<LockKeys, 'channel'>, onWake: (message?: string) => void): Listening {
    return this.#wakeUps.listen(keys.channel, true, onWake)
  }

  /** The same for the channel of a client. */
  listenTo(inbox: string, onWake: (message?: string) => void): Listening {
    return this.#wakeUps.listen(inbox, false, onWake)
  }

  /** How long after its deadline a request may still run, in milliseconds. */
  get lateAtMostMs(): number {
    return this.#clock.lateAtMostMs
  }

  /**
   * Whether the server that runs a script counts all who listen to a lock's channel. In a cluster
   * without sharded channels it counts those who listen at the same node.
   */
  get countsListeners(): boolean {
    return !this.#connection.clustered || this.#connection.sharded
  }

  /** Where its keys are: the same for all clients as long as it runs; null when it does not tell. */
  identify(timeoutMs: number): Promise<string | null> {
    return this.#identity.ask(timeoutMs)
  }

  /** Calls `onUp` whenever it has connected, be it to another server, until the result is called. */
  onUp(onUp: () => void): () => void {
    this.#onUp.add(onUp)
    return () => this.#onUp.delete(onUp)
  }

  connect(): void {
    this.#connection.connect()
  }

  /** Resolves when it has connected for the first time, or failed to. */
  get known(): Promise<void> {
    return this.#connection.known
  }

  get whyDown(): CallFailure | undefined {
    return this.#connection.whyDown
  }

  get everUp(): boolean {
    return this.#connection.everUp
  }

  /** Ends when nothing is under way that nobody waits for: here that is never. */
  async quiet(): Promise<void> {}

  close(): void {
    this.#wakeUps.close()
    this.#connection.close()
  }
}
