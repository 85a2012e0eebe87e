import { EventEmitter } from 'eventemitter3'
import { InvalidArgumentError } from '../../errors.ts'
import { emitBy } from '../../kit/call-listeners.ts'
import { refuseDetached } from '../../kit/handle.ts'
import { INSPECT, type Inspect, printed } from '../../kit/printed.ts'
import { assertFunction } from '../../options/input.ts'
import type { ElectionChannel } from '../../servers/election-channel.ts'
import { Campaign } from './campaign.ts'
import type { ElectionHost } from './election-host.ts'
import { type ElectionInfo, electionIn, type LeaderInfo, leaderIn } from './election-info.ts'
import type { ElectionLock } from './election-lock.ts'
import { type LeadOptions, leadOptions } from './leader-options.ts'
import { LeaderWatch } from './leader-watch.ts'
import type { Term } from './term.ts'

/** The events of a `LeaderElection`, with the arguments of their listeners. */
export interface LeaderElectionEvents {
  /**
   * Called with the new leader; null if there is no leader. The first event reports the current leader. While there is
   * a listener, each term is reported at most once, and never after a later term. A short term may be missing.
   */
  changed: (leader: LeaderInfo | null) => void
}

type Listener = LeaderElectionEvents['changed']

/**
 * An election of one leader. A call of `lead` makes this client a candidate. The candidates of one election lead one at
 * a time, in FIFO order. The leader holds the fair lock with the election's name, and the watchdog renews its lease.
 *
 * The event `changed` reports the leader, even to a client that is not a candidate. The client watches the election
 * only while the event has a listener.
 */
export class LeaderElection extends EventEmitter<LeaderElectionEvents> {
  /** The name that `getLeaderElection` received. */
  readonly name: string
  /** The name under which other clients see this candidate. */
  readonly label: string
  readonly #host: ElectionHost
  readonly #lock: ElectionLock
  readonly #channel: ElectionChannel
  readonly #watch: LeaderWatch
  #isCandidate = false
  /** The last campaign of this object, even if the campaign has ended. Undefined before the first call of `lead`. */
  #campaign: Campaign | undefined

  /** @internal */
  constructor(label: string, host: ElectionHost) {
    super()
    this.label = label
    this.#host = host
    const lock = host.lock()
    this.#lock = lock
    this.name = lock.name
    this.#channel = host.channel(lock)
    const remote = lock.registry.server.lock(lock.rawName)
    this.#watch = new LeaderWatch({
      everyMs: lock.registry.leaseMs / 3,
      clock: lock.registry.clock,
      peek: () => lock.peek(),
      // The channel of the lock reports the end of a term if no leader follows. The channel of the election reports
      // new leaders.
      listen: (onWake) => [remote.listen(onWake), this.#channel.listen(onWake)],
      verify: (holder) => this.#verify(holder),
      accepts: (holder) => this.#accepts(holder),
      changed: (leader) => this.#emitChange(leader),
      failed: (error) => lock.registry.emit('error', error),
    })
  }

  /** Returns what logs and JSON show of the election. */
  toJSON(): Record<string, unknown> {
    const { name, label, isLeading } = this
    return { name, label, isLeading }
  }

  /** @internal */
  [INSPECT](_depth: number, options: object, inspect: Inspect): string {
    return printed(this, options, inspect)
  }

  /** True if this candidate leads now, by the clocks of this process. */
  get isLeading(): boolean {
    return this.#campaign?.leads === true
  }

  /**
   * Waits until this candidate is the leader, and leads while `fn` runs. When `fn` ends, the next candidate becomes the
   * leader, after one message. An object is one candidate at a time.
   *
   * `fn` must end when `term.signal` aborts. Until `fn` ends there is no other leader, unless the term was lost. After
   * a loss, another candidate can lead as soon as the lease has ended. After the abort, the watchdog renews the lease
   * for at most `maxDrainMs`.
   *
   * @param fn runs in a frame that carries the lock of the election, as with `using` of a lock
   * @returns the result of `fn`. Rejects with the error of `fn`. Rejects with `LeaseLostError` if the term was lost
   * before `fn` ended; the error of `fn` is then the `cause`. Rejects with `signal.reason` if `signal` aborts before
   * the candidate leads. Rejects with `InvalidArgumentError` for invalid input, and while another call of this object
   * is pending. Rejects with `RedisUnavailableError` or `RedisRefusedError` if Redis was down for `outageMs` during the
   * wait, and with `ClosedError` after `close()`. With `again`, the call does not reject after a loss or an outage, but
   * waits to lead again.
   */
  async lead<T>(fn: (term: Term) => Promise<T> | T, options: LeadOptions = {}): Promise<T> {
    assertFunction(fn)
    const leading = leadOptions(options)
    if (this.#isCandidate) {
      throw new InvalidArgumentError(
        `lead() of "${this.name}" is already running: this object is one candidate. For another candidate, ` +
          'call getLeaderElection() again.',
        this.name,
      )
    }
    this.#isCandidate = true
    try {
      for (;;) {
        const owner = this.#host.newOwner()
        const campaign = new Campaign(owner, this.#host.lock(owner), leading, this.#host.closing)
        this.#campaign = campaign
        this.#host.campaigns.add(campaign)
        try {
          return await campaign.run(fn, (term) => this.#began(term))
        } catch (error) {
          if (!leading.again || !(await campaign.standsAgain(error))) throw error
        } finally {
          this.#host.campaigns.delete(campaign)
        }
      }
    } finally {
      this.#isCandidate = false
    }
  }

  /**
   * Ends the term of this candidate. `isLeading` is false at once, and `term.signal` aborts with a `ResignedError`.
   * When the function of `lead` has ended, the next candidate leads, after one message. `lead` then settles as the
   * function does.
   *
   * Until the function ends, the watchdog renews the lease, for at most `maxDrainMs` of `lead`. So a function that does
   * not end keeps the other candidates waiting, but there are never two leaders.
   *
   * @returns true when the next candidate can lead; inside the function, true at once. False if this candidate did not
   * lead, or has lost the term. Rejects with `RedisUnavailableError` or `RedisRefusedError` if Redis did not confirm
   * the release within `outageMs`. The client then retries in the background, and the lock becomes free at the end of
   * its lease at the latest. A further call outside the function waits for the same result.
   */
  async resign(): Promise<boolean> {
    const campaign = this.#campaign
    if (campaign === undefined || !this.#isCandidate) return false
    const { leads } = campaign
    const handedOver = campaign.resign()
    if (this.#lock.currentOwner.leaseHolder() !== campaign.owner) return handedOver
    // This code runs inside the function of `lead`. If it waited for the end of that function, the function would wait
    // for itself.
    handedOver.catch(() => {})
    return leads
  }

  /**
   * Returns the holder of the election's lock in Redis; null if the lock is free. Rejects with `RedisUnavailableError`
   * or `RedisRefusedError` if Redis was down for `outageMs`, and with `ClosedError` after `close()`.
   */
  async leader(): Promise<LeaderInfo | null> {
    return leaderIn(await this.#lock.peek())
  }

  /** Returns the leader and the waiting candidates, in FIFO order. Rejects as {@link leader} does. */
  async inspect(): Promise<ElectionInfo> {
    return electionIn(await this.#lock.inspect())
  }

  override on(event: 'changed', listener: Listener, context?: unknown): this {
    super.on(event, listener, context)
    return this.#follow()
  }

  override addListener(event: 'changed', listener: Listener, context?: unknown): this {
    return this.on(event, listener, context)
  }

  override once(event: 'changed', listener: Listener, context?: unknown): this {
    super.once(event, listener, context)
    return this.#follow()
  }

  override off(event: 'changed', listener?: Listener, context?: unknown, once?: boolean): this {
    return this.removeListener(event, listener, context, once)
  }

  override removeListener(
    event: 'changed',
    listener?: Listener,
    context?: unknown,
    once?: boolean,
  ): this {
    super.removeListener(event, listener, context, once)
    return this.#follow()
  }

  override removeAllListeners(event?: 'changed'): this {
    super.removeAllListeners(event)
    return this.#follow()
  }

  /** Starts the watch of the leader if the event has a listener. Otherwise stops the watch. */
  #follow(): this {
    const { watches } = this.#host
    if (this.listenerCount('changed') > 0) {
      watches.add(this.#watch)
      this.#watch.start()
    } else {
      watches.delete(this.#watch)
      this.#watch.stop()
    }
    return this
  }

  /**
   * Reports the new leader to the listeners of this object. Other objects and clients receive a message. An object that
   * misses the message finds the new leader at its next check.
   */
  #began({ owner, token }: Term): void {
    const { registry } = this.#lock
    this.#watch.began({ label: this.label, owner, token, ttlMs: registry.leaseMs })
    registry
      .request(this.name, 'not announced', (callMs) => this.#channel.announce(token, callMs))
      .catch(() => {})
  }

  /** Checks the term with the server if this candidate seems to lead, but `holder` is another owner or null. */
  async #verify(holder: string | null): Promise<void> {
    const campaign = this.#campaign
    if (holder !== null && campaign?.owner.hasOwnerId(holder)) return
    if (campaign?.leads) await campaign.term?.verify()
  }

  /** False if `holder` contradicts this candidate's state, or if the holder's campaign in this client has ended. */
  #accepts(holder: string | null): boolean {
    const campaign = this.#campaign
    if (holder === null || !campaign?.owner.hasOwnerId(holder)) {
      return !this.isLeading && !(holder !== null && this.#host.isOver(holder))
    }
    return campaign.leads && campaign.term?.owner === holder
  }

  #emitChange(leader: LeaderInfo | null): void {
    emitBy(this)('changed', leader)
  }
}

refuseDetached(LeaderElection, 'election')
