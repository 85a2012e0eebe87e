import type { Moment } from '../lease/clock.ts'
import type { Hold } from '../lease/hold.ts'
import type { Owner } from '../owner/owner.ts'
import type { Beat } from '../redis/answers.ts'
import type { FairKeys } from '../redis/queue-node.ts'
import type { Listening } from '../redis/wake-ups.ts'
import type { Context } from './context.ts'
import { Conversation } from './conversation.ts'
import { HoldCalls } from './hold-calls.ts'
import type { Host } from './host.ts'
import { InFlight } from './in-flight.ts'
import { Place } from './place.ts'
import { MOST_IN_ONE, Places } from './places.ts'
import type { Site } from './site.ts'
import type { Tenancy } from './tenancy.ts'
import type { Waiter } from './waiter.ts'

/** A lock without an expiry was not made by us; it is looked at this often, in milliseconds. */
const NO_EXPIRY_POLL_MS = 5_000

/**
 * Those of one client who wait for one lock in turn. Each has a place of its own in the queue in
 * Redis, so that local waiters keep their order among all others. The lock is not raced for: whoever
 * lets go gives it to the next in the queue, who is told by a message.
 */
export class FairQueue {
  readonly keys: FairKeys
  readonly #context: Context
  readonly #talk: Conversation
  readonly #calls: HoldCalls
  readonly #tenancy: Tenancy
  readonly #host: Host
  readonly #inFlight = new InFlight()
  readonly places = new Places()
  #listening: Listening | null = null

  constructor(site: Site, tenancy: Tenancy, host: Host) {
    this.keys = site.fairKeys
    this.#context = site.context
    this.#talk = new Conversation(site)
    this.#calls = new HoldCalls(site)
    this.#tenancy = tenancy
    this.#host = host
    this.#context.heartbeat.join(this)
  }

  /** Nobody of this client waits for the lock or has it. */
  close(): void {
    this.#context.heartbeat.leave(this)
  }

  get isEmpty(): boolean {
    return this.places.size === 0
  }

  /** Asks, queues and waits until the waiter has the lock or is settled. */
  async stand(waiter: Waiter): Promise<void> {
    const place = new Place(waiter, this.#talk.nameOf(waiter))
    if (!waiter.asksOnce) this.places.add(place)
    let done = false
    while (!done && !waiter.settled) {
      waiter.bell.still()
      const { hold: own } = this.#tenancy
      if (own?.owner === waiter.request.owner) {
        this.#leave(place)
        return this.#host.reenter(own, waiter)
      }
      done = this.#claim(place) || (await this.#ask(place))
    }
    this.#leave(place)
    if (!waiter.asking) this.#talk.settleUnheard(waiter)
  }

  /** A message, a heartbeat or a release says so. */
  granted(owner: string, token: number): void {
    const { heartbeat, clock } = this.#context
    const place = this.places.get(owner)
    if (place !== undefined) {
      place.granted(token)
      // In a long queue each would ask in its turn.
      if (this.places.size > MOST_IN_ONE && place.claim(clock) === null) heartbeat.hurry(this)
    }
    // Whoever it was has left: what came late must not hold everybody up.
    else if (this.#tenancy.hold?.token !== token) heartbeat.refuse(this.keys, owner, token)
  }

  /** What a heartbeat sent at that moment was answered for some of the places. */
  beaten(asked: readonly Place[], beat: Beat, sentAt: Moment): void {
    const { first, granted, lastToken } = beat
    for (const place of asked) {
      const { wireOwner } = place
      if (this.places.get(wireOwner) !== place || wireOwner === granted) continue
      place.queued({ ...beat, first: wireOwner === first }, sentAt)
    }
    // They may be others than those asked about.
    const head = this.places.get(first)
    if (head?.answered) head.queued({ ...beat, first: true }, sentAt)
    this.places.get(granted)?.granted(lastToken)
    if (this.places.size === 0) return
    // Those who wait for long also hear of releases by others who know nothing of the queue. What
    // is missed there is found by the next heartbeat.
    this.#listening ??= this.#context.node.listen(this.keys, (message) => {
      if (message !== undefined) this.lookAgain()
    })
  }

  /** The lock may be free: the first who asks moves the queue on. */
  lookAgain(): void {
    const [next] = this.places
    next?.waiter.bell.ring()
  }

  /** Somebody's acquisition may make those of the same owner re-entries. */
  ring(owner: Owner): void {
    if (!this.places.hasOf(owner)) return
    for (const { waiter } of this.places) if (waiter.request.owner === owner) waiter.bell.ring()
  }

  #leave(place: Place): void {
    if (!this.places.delete(place)) return
    this.#inFlight.done(place)
    place.leave()
    if (this.places.size > 0) return
    this.#listening?.stop()
    this.#listening = null
  }

  /** @returns whether the waiter has the lock, by a grant that needs no asking */
  #claim(place: Place): boolean {
    const claim = place.claim(this.#context.clock)
    // Whoever has a stand-in blocks the event loop, maybe at once, and for longer than a claim lasts.
    if (claim === null || this.#context.keeper.hasStandIn) return false
    const { waiter, claimMs } = place
    const hold = this.#hold(place, claim.token, claim.sentAt, claimMs)
    if (hold === null) return false
    // Sent before the owner goes on, who may block the event loop for longer than the claim window.
    // Should it fail, the hold ends with its claim window, and is lost as any other.
    this.#calls.lengthen(hold, waiter.request.leaseMs, claimMs / 3).catch(() => {})
    this.#host.begin(waiter, hold)
    return true
  }

  /** @returns the hold that a grant makes; null when it came too late to be of use */
  #hold(place: Place, token: number, sentAt: Moment, leaseMs: number): Hold | null {
    const hold = this.#tenancy.granted(place.waiter, { token }, sentAt, leaseMs)
    if (hold !== null) this.#leave(place)
    return hold
  }

  /** @returns whether the waiter needs no more of it */
  async #ask(place: Place): Promise<boolean> {
    const { waiter } = place
    if (waiter.patience.over) {
      waiter.reject(waiter.patience.error('not acquired'))
      return true
    }
    if (!waiter.asksOnce && !this.#inFlight.admits(place)) {
      await waiter.bell.wait()
      return false
    }
    const { grant, sentAt, pauseMs } = await this.#talk.queueUp(waiter, place.ticket)
    if (grant !== null) {
      place.answered = true
      this.#inFlight.done(place)
    }
    if (grant?.kind === 'granted') {
      const hold = this.#hold(place, grant.token, sentAt, waiter.request.leaseMs)
      if (hold === null) return false
      this.#host.begin(waiter, hold)
      return true
    }
    if (grant?.kind === 'held') {
      if (this.#tenancy.hold?.owner === waiter.request.owner) return false
      waiter.resolve(null)
      return true
    }
    if (grant?.kind === 'queued') {
      this.#context.heartbeat.start()
      place.ticket = grant.ticket
      place.queued(grant, sentAt)
      this.#host.announce(waiter)
      // A grant that came meanwhile has rung the bell, as has the end of the wait.
      await waiter.bell.wait(grant.ttlMs < 0 ? NO_EXPIRY_POLL_MS : undefined)
    } else {
      await waiter.bell.wait(pauseMs)
    }
    return false
  }
}
