import type { AcquirePath } from '../../diagnostics.ts'
import type { Moment } from '../../kit/clock.ts'
import type { Hold } from '../../lease/hold.ts'
import { type Asked, abandonName, ask, callMsFor, nameOf } from '../../local/ask.ts'
import { confirmed } from '../../local/confirm.ts'
import { lengthen } from '../../local/extend.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import type { QueuedWaiters } from '../../local/queued-waiters.ts'
import { reenter } from '../../local/reenter.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HeartbeatAnswer, QueueAnswer } from '../../servers/answers.ts'
import type { RemoteFairLock } from '../../servers/fair-server.ts'
import type { Subscription } from '../../servers/subscription.ts'
import { untilLookMs } from '../../waiting/release-listener.ts'
import type { Waiter } from '../../waiting/waiter.ts'
import type { Heartbeat } from './heartbeat.ts'
import { Place } from './place.ts'
import { MOST_IN_ONE, Places } from './places.ts'
import { RequestsInFlight } from './requests-in-flight.ts'

/**
 * Those of one client who wait for one lock in turn. Each has a place of its own in the queue in
 * Redis, so that local waiters keep their order among all others. The lock is not raced for: whoever
 * lets go gives it to the next in the queue, who is told by a message.
 */
export class FairQueue implements QueuedWaiters {
  readonly rawName: string
  readonly #lock: LocalLock
  readonly #heartbeat: Heartbeat
  readonly #inTurn: RemoteFairLock
  readonly #inFlight = new RequestsInFlight()
  readonly places = new Places()
  #listening: Subscription | null = null

  constructor(heartbeat: Heartbeat, lock: LocalLock, inTurn: RemoteFairLock) {
    this.#inTurn = inTurn
    this.rawName = lock.rawName
    this.#lock = lock
    this.#heartbeat = heartbeat
    this.#heartbeat.join(this)
  }

  /** Nobody of this client waits for the lock or has it. */
  close(): void {
    this.#heartbeat.leave(this)
  }

  get isEmpty(): boolean {
    return this.places.size === 0
  }

  /** Asks, queues and waits until the waiter has the lock or is settled. */
  async wait(waiter: Waiter): Promise<void> {
    const place = new Place(waiter, nameOf(waiter))
    if (!waiter.asksOnce) this.places.add(place)
    let done = false
    while (!done && !waiter.settled) {
      waiter.wakeEvent.reset()
      const own = this.#own(waiter)
      if (own !== undefined) {
        this.#leave(place)
        reenter(this.#lock, own, waiter)
        return
      }
      done = this.#claim(place) || (await this.#ask(place))
    }
    this.#leave(place)
    if (!waiter.asking) abandonName(this.#lock, waiter)
  }

  /** A message, a heartbeat or a release says so. */
  granted(owner: string, token: number, path?: AcquirePath): void {
    const { clock } = this.#lock.services
    const place = this.places.get(owner)
    if (place !== undefined) {
      place.granted(token, path)
      // In a long queue each would ask in its turn.
      if (this.places.size > MOST_IN_ONE && place.claim(clock) === null) this.#heartbeat.hurry(this)
    }
    // Whoever it was has left: what came late must not hold everybody up.
    else if (!this.#lock.holds.all.some((hold) => hold.token === token)) {
      this.#heartbeat.refuse(this.#inTurn, owner, token)
    }
  }

  /** What a heartbeat sent at that moment was answered for some of the places. */
  beaten(asked: readonly Place[], beat: HeartbeatAnswer, sentAt: Moment): void {
    const { first, granted, lastToken } = beat
    for (const place of asked) {
      const { wireOwner } = place
      if (this.places.get(wireOwner) !== place || wireOwner === granted) continue
      const isFirst = wireOwner === first
      place.queued({ ...beat, first: isFirst }, sentAt)
      place.waiter.saw({ holder: beat.holder, ttlMs: beat.ttlMs, position: isFirst ? 1 : null })
    }
    // They may be others than those asked about.
    const head = this.places.get(first)
    if (head?.answered) head.queued({ ...beat, first: true }, sentAt)
    this.places.get(granted)?.granted(lastToken)
    if (this.places.size === 0) return
    // Those who wait for long also hear of releases by others who know nothing of the queue. What
    // is missed there is found by the next heartbeat.
    this.#listening ??= this.#lock.remote.listen((message) => {
      if (message !== undefined) this.lookAgain()
    })
  }

  /** The lock may be free: the first who asks moves the queue on. */
  lookAgain(): void {
    const [next] = this.places
    next?.waiter.wakeEvent.set()
  }

  /** Somebody's acquisition may make those of the same owner re-entries. */
  wake(owner: Owner): void {
    if (!this.places.hasOf(owner)) return
    for (const { waiter } of this.places) if (waiter.request.owner === owner) waiter.wakeEvent.set()
  }

  #own({ request }: Waiter): Hold | undefined {
    return this.#lock.holds.of(request.owner, request.kind)
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
    const claim = place.claim(this.#lock.services.clock)
    const { watchdog, server } = this.#lock.services
    // Whoever has a stand-in blocks the event loop, maybe at once, and for longer than a claim lasts. And what
    // is to be confirmed takes time: it asks, and has the whole lease.
    if (claim === null || watchdog.hasStandIn || server.confirm !== undefined) return false
    const { waiter, claimMs } = place
    const hold = this.#hold(place, claim.token, claim.sentAt, claimMs)
    if (hold === null) return false
    hold.beganAt = this.#lock.services.clock.monotonic()
    // Sent before the owner goes on, who may block the event loop for longer than the claim window.
    // Should it fail, the hold ends with its claim window, and is lost as any other.
    lengthen(this.#lock, hold, waiter.request.leaseMs, claimMs / 3).catch(() => {})
    waiter.granted(hold, place.path)
    return true
  }

  /** @returns the hold that a grant makes; null when it came too late to be of use */
  #hold(place: Place, token: number, sentAt: Moment, leaseMs: number): Hold | null {
    const hold = this.#lock.holds.granted(place.waiter, { token }, sentAt, leaseMs)
    if (hold !== null) this.#leave(place)
    return hold
  }

  #queueUp({ waiter, ticket }: Place): Promise<Asked<QueueAnswer>> {
    const callMs = callMsFor(waiter)
    const owner = nameOf(waiter)
    const { leaseMs } = waiter.request
    const waits = !waiter.asksOnce
    waiter.queued ||= waits
    const listens = () => this.#heartbeat.listens
    const attempt = { owner, leaseMs, ticket: waits ? ticket : null, listens, callMs }
    const lock = this.#lock
    const asked = ask<QueueAnswer>(lock, waiter, callMs, (reply) =>
      this.#inTurn.acquire(attempt, reply),
    )
    const { confirm } = lock.services.server
    if (confirm === undefined) return asked
    return asked.then((heard) => confirmed(lock, waiter, confirm, heard))
  }

  /** @returns whether the waiter needs no more of it */
  async #ask(place: Place): Promise<boolean> {
    const { waiter } = place
    if (waiter.retryBudget.isUsedUp) {
      waiter.reject(waiter.retryBudget.error('not acquired'))
      return true
    }
    if (!waiter.asksOnce && !this.#inFlight.admits(place)) {
      await waiter.wakeEvent.wait()
      return false
    }
    const { grant, sentAt, pauseMs } = await this.#queueUp(place)
    if (grant !== null) {
      place.answered = true
      this.#inFlight.done(place)
    }
    if (grant?.kind === 'granted') {
      const hold = this.#hold(place, grant.token, sentAt, waiter.request.leaseMs)
      if (hold === null) return false
      waiter.granted(hold, place.path)
      return true
    }
    if (grant !== null) waiter.saw(grant)
    if (grant?.kind === 'held') {
      if (this.#own(waiter) !== undefined) return false
      waiter.resolve(null)
      return true
    }
    if (grant?.kind === 'queued') {
      this.#heartbeat.start()
      place.ticket = grant.ticket
      place.queued(grant, sentAt)
      this.#lock.announce(waiter)
      // A grant that came meanwhile has set the event, as has the end of the wait.
      await waiter.wakeEvent.wait(grant.ttlMs < 0 ? untilLookMs() : undefined)
    } else {
      await waiter.wakeEvent.wait(pauseMs)
    }
    return false
  }
}
