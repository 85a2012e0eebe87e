import {
  type Grant,
  type LeaseToRenew,
  type LockFacts,
  MOST_LISTED,
  type Released,
} from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import { acquireAll, type GrantOfAll, type Named } from './acquire-all.ts'
import { withCounts } from './acquire-args.ts'
import { groupBySlot } from './cluster-slot.ts'
import { Connection } from './connection.ts'
import { forceRelease, type SeenHold, seenIn } from './force-release.ts'
import { type LockKeys, queueKeys } from './keys.ts'
import type { RedisSource } from './open-client.ts'
import { renewSeats } from './renew.ts'
import {
  freedOf,
  grantOf,
  handedOverOf,
  handedOverOrYieldedOf,
  keptOf,
  lockFacts,
  reentryOf,
} from './replies.ts'
import { ScriptRunner } from './script-runner.ts'
import * as scripts from './scripts.generated.ts'
import { ServerClock } from './server-clock.ts'
import { ServerId } from './server-id.ts'
import { type Subscription, Subscriptions } from './subscriptions.ts'

/**
 * One server (or cluster) as the locks see it: what can be asked, and what it answers. Every call
 * ends within its `timeoutMs`, and rejects with a {@link CallFailure} and nothing else.
 */
export class RedisServer {
  readonly #connection: Connection
  readonly #subscriptions: Subscriptions
  readonly #clock = new ServerClock()
  /** How long a token counter outlives its last use; 0 keeps it for good. All on one connection agree. */
  readonly counterMs: number
  readonly #serverId: ServerId
  readonly #onUp = new Set<() => void>()
  readonly source: RedisSource
  readonly runner: ScriptRunner

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
        this.#subscriptions.follow(facts.runId)
        for (const onUp of [...this.#onUp]) onUp()
      },
      down: () => {},
      error: onError,
    })
    this.runner = new ScriptRunner(this.#connection, this.#clock)
    this.#serverId = new ServerId(this.#connection)
    this.#subscriptions = new Subscriptions(settings, onError)
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
    return this.runner.runInTime(scripts.acquire, keys.both, args, timeoutMs, read)
  }

  /** Takes several locks of one slot at once, or none. */
  acquireAll(leases: readonly Named[], leaseMs: number, timeoutMs: number): Promise<GrantOfAll> {
    return acquireAll(this.runner, leases, leaseMs, this.counterMs, timeoutMs)
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
      this.runner.publish,
      listening ?? '',
      isVote ? 1 : '',
      reserve,
    ]
    const read = listening === null ? handedOverOf : handedOverOrYieldedOf
    return this.runner.runInTime(scripts.handOver, keys.both, args, timeoutMs, read)
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
      const needed = [owner, token, channel, this.runner.publish]
      return holds > 0 ? [...needed, holds, notAfterUs] : needed
    }
    const read = holds > 0 ? keptOf : freedOf
    // Meanwhile the count may have been raised again.
    return this.runner.runInTime(scripts.release, keys.both, args, timeoutMs, read, holds === 0)
  }

  /**
   * Renews many leases at once; a `leaseMs` of 0 only looks.
   *
   * @returns for each lease what is left of its lease in milliseconds, -1 without an expiry, -2 when
   * its owner does not hold it; or the failure of the call that it was part of
   */
  renew(
    leases: readonly LeaseToRenew[],
    leaseMs: number,
    timeoutMs: number,
  ): Promise<(number | CallFailure)[]> {
    return renewSeats(this.runner, leases, this.groups(leases), leaseMs, this.counterMs, timeoutMs)
  }

  /** The indices of the leases, those that one request can carry together. */
  groups(leases: readonly Pick<LeaseToRenew, 'key'>[]): number[][] {
    return this.#connection.clustered ? groupBySlot(leases) : [[...leases.keys()]]
  }

  /** The hold that force would end; null when the lock is free. */
  seen(keys: LockKeys, timeoutMs: number): Promise<SeenHold | null> {
    return this.inspect(keys, timeoutMs, 0).then(seenIn)
  }

  /** Ends that hold and no other: whether it was there still. */
  forceRelease(keys: LockKeys, seen: SeenHold, timeoutMs: number): Promise<boolean> {
    return forceRelease(this.runner, keys, seen, timeoutMs)
  }

  /** @param most how many of those who queue are listed; 0 leaves out who waits altogether */
  inspect(keys: LockKeys, timeoutMs: number, most = MOST_LISTED): Promise<LockFacts> {
    const { queue, waiting } = queueKeys(keys.lock)
    const all = [...keys.both, queue, waiting]
    const args = () => [keys.channel, this.runner.publish, most]
    return this.runner.run(scripts.inspect, all, args, timeoutMs, lockFacts)
  }

  /** Calls `onWake` with each message, and without one when any may have been missed. */
  listen(keys: Pick<LockKeys, 'channel'>, onWake: (message?: string) => void): Subscription {
    return this.#subscriptions.listen(keys.channel, true, onWake)
  }

  /** The same for the channel of a client. */
  listenTo(inbox: string, onWake: (message?: string) => void): Subscription {
    return this.#subscriptions.listen(inbox, false, onWake)
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
    return this.#serverId.ask(timeoutMs)
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
    this.#subscriptions.close()
    this.#connection.close()
  }
}
