import { EventEmitter } from 'eventemitter3'
import { InvalidArgumentError } from '../../errors.ts'
import { callListeners } from '../../kit/call-listeners.ts'
import { INSPECT, type Inspect, printed } from '../../kit/printed.ts'
import { assertFunction } from '../../options/input.ts'
import type { Owner } from '../../owner/owner.ts'
import type { ElectionChannel } from '../../servers/election-channel.ts'
import { Campaign } from './campaign.ts'
import { type ElectionInfo, electionIn, type LeaderInfo, leaderIn } from './election-info.ts'
import type { ElectionLock } from './election-lock.ts'
import { type LeadOptions, leadOptions } from './leader-options.ts'
import { LeaderWatch } from './leader-watch.ts'
import type { Term } from './term.ts'

/** The events of a `LeaderElection`, with what their listeners get. */
export interface LeaderElectionEvents {
  /**
   * Another candidate leads, or, with null, nobody. The first one tells who leads when it is begun to be looked.
   * Each term is told once, and none after a later one. Terms that end before anybody looked are left out.
   */
  changed: (leader: LeaderInfo | null) => void
}

type Listener = LeaderElectionEvents['changed']

/** Whose elections they are. */
interface Host {
  newOwner(): Owner
  lock(owner?: Owner): ElectionLock
  channel(lock: ElectionLock): ElectionChannel
  watches: Set<LeaderWatch>
  /** Aborts when nobody is to lead any more. */
  closing: AbortSignal
}

/**
 * One candidate of an election: those of one name take turns to lead, in the order in which they came, one at a
 * time. To lead is to hold the fair lock of that name, with a lease that the watchdog renews.
 *
 * The event `changed` tells who leads, also to those who are no candidates. While nobody listens to it nothing is
 * watched.
 */
export class LeaderElection extends EventEmitter<LeaderElectionEvents> {
  /** The name as it was given to `getLeaderElection`. */
  readonly name: string
  /** What others see of this candidate. */
  readonly label: string
  readonly #host: Host
  readonly #lock: ElectionLock
  readonly #channel: ElectionChannel
  readonly #watch: LeaderWatch
  #isCandidate = false
  /** The last one, also when it is over. */
  #campaign: Campaign | undefined

  /** @internal */
  constructor(label: string, host: Host) {
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
      look: () => lock.peek(),
      // The first tells of the end of a term that nobody follows, and the server tells it itself.
      listen: (onWake) => [remote.listen(onWake), this.#channel.listen(onWake)],
      accepts: (holder) => this.#accepts(holder),
      changed: (leader) => this.#tell(leader),
      failed: (error) => lock.registry.emit('error', error),
    })
  }

  /** As logs and JSON have it. */
  toJSON(): Record<string, unknown> {
    const { name, label, isLeading } = this
    return { name, label, isLeading }
  }

  /** @internal */
  [INSPECT](_depth: number, options: object, inspect: Inspect): string {
    return printed(this, options, inspect)
  }

  /** Whether this candidate leads, by its own clocks at this moment. */
  get isLeading(): boolean {
    return this.#campaign?.leads === true
  }

  /**
   * Waits until it is this candidate's turn, leads while `fn` runs, and hands over to the next one when `fn` has
   * ended, in one message. An object is one candidate at a time.
   *
   * What `fn` does must end when `term.signal` aborts. As long as it has not, nobody else leads: unless the term
   * was lost, when others go by its lease alone.
   *
   * @param fn runs in a frame that carries the lock of the election, as with `using` of a lock
   * @returns what `fn` returns. Rejects with what `fn` rejects with; with `LeaseLostError` when the term was lost
   * before `fn` ended, with the error of `fn` as the `cause`; with `signal.reason` when aborted before it led; with
   * `InvalidArgumentError` for bad input, and while another call of this object is under way; with
   * `RedisUnavailableError` or `RedisRefusedError` when Redis was out for `outageMs` while it waited, and
   * `ClosedError` after `close()`. With `again` it stands anew after a loss and after an outage instead.
   */
  async lead<T>(fn: (term: Term) => Promise<T> | T, options: LeadOptions = {}): Promise<T> {
    assertFunction(fn)
    const { signal, again, resignOnRequest } = leadOptions(options)
    if (this.#isCandidate) {
      throw new InvalidArgumentError(
        `lead() of "${this.name}" is under way: this object is a candidate already. For one more candidate ` +
          'take an object of its own, from getLeaderElection().',
        this.name,
      )
    }
    this.#isCandidate = true
    try {
      for (;;) {
        const owner = this.#host.newOwner()
        const ending = { signal, closing: this.#host.closing, resignOnRequest }
        const campaign = new Campaign(owner, this.#host.lock(owner), ending)
        this.#campaign = campaign
        try {
          return await campaign.run(fn, (term) => this.#began(term))
        } catch (error) {
          if (!again || !(await campaign.standsAgain(error))) throw error
        }
      }
    } finally {
      this.#isCandidate = false
    }
  }

  /**
   * Ends the term of this candidate: `isLeading` is false at once, `term.signal` aborts with a `ResignedError`, and
   * the next candidate leads as soon as the function has ended, by one message. The lease is renewed until then, so
   * a function that goes on keeps the others waiting, and no two lead. `lead` then settles as the function does.
   *
   * @returns true when it was handed over, or, called inside the function, at once; false when this candidate did
   * not lead, or had lost the term before. Rejects with `RedisUnavailableError` or `RedisRefusedError` when Redis did
   * not confirm it within `outageMs`: it is then tried on in the background, and the term ends with its lease at the
   * latest. Calling it again waits for the same.
   */
  async resign(): Promise<boolean> {
    const campaign = this.#campaign
    if (campaign === undefined || !this.#isCandidate) return false
    const { leads } = campaign
    const handedOver = campaign.resign()
    if (this.#lock.currentOwner.leaseHolder() !== campaign.owner) return handedOver
    // Who is asked to end does not wait for itself.
    handedOver.catch(() => {})
    return leads
  }

  /**
   * Who leads, as Redis has it; null when nobody does. Rejects with `RedisUnavailableError` or `RedisRefusedError`
   * when Redis was out for `outageMs`, with `ClosedError` after `close()`.
   */
  async leader(): Promise<LeaderInfo | null> {
    return leaderIn(await this.#lock.peek())
  }

  /** Who leads, and who waits to, in order. Rejects as {@link leader} does. */
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

  /** Watches while anybody listens. */
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

  /** Listeners here need no message; observers elsewhere that miss it find out by a look. */
  #began({ owner, token }: Term): void {
    const { registry } = this.#lock
    this.#watch.began({ label: this.label, owner, token, ttlMs: registry.leaseMs })
    registry
      .ask(this.name, 'not announced', (callMs) => this.#channel.announce(token, callMs))
      .catch(() => {})
  }

  /** What this process tells is never behind, or ahead of, what it says of itself. */
  async #accepts(holder: string | null): Promise<boolean> {
    const campaign = this.#campaign
    if (holder !== null && campaign?.owner.isNamed(holder)) {
      return campaign.leads && campaign.term?.owner === holder
    }
    if (campaign?.leads) await campaign.term?.verify()
    return !this.isLeading
  }

  #tell(leader: LeaderInfo | null): void {
    callListeners(() => this.emit('changed', leader))
  }
}
