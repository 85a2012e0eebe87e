import type { AcquirePath } from '../../diagnostics.ts'
import type { Moment } from '../../kit/clock.ts'
import type { Hold } from '../../lease/hold.ts'
import { confirmed } from '../../local/confirm.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import type { QueuedWaiters } from '../../local/queued-waiters.ts'
import { reenter } from '../../local/reenter.ts'
import {
  abandonId,
  callMsFor,
  ownerIdOf,
  type RequestOutcome,
  sendFor,
} from '../../local/request.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HeartbeatAnswer, QueueAnswer } from '../../servers/answers.ts'
import type { RemoteFairLock } from '../../servers/fair-server.ts'
import type { Subscription } from '../../servers/subscription.ts'
import { untilCheckMs } from '../../waiting/release-listener.ts'
import type { Waiter } from '../../waiting/waiter.ts'
import { confirmGrant } from './confirm-grant.ts'
import type { Heartbeat } from './heartbeat.ts'
import { Place } from './place.ts'
import { MOST_IN_ONE, Places } from './places.ts'
import { RequestsInFlight } from './requests-in-flight.ts'

/**
 * The waiters of one client for one fair lock. Each waiter has its own place in the queue on the
 * server, so the FIFO order covers the waiters of all clients. The waiters do not race for the
 * lock. A release grants the lock to the head of the queue, and the client of the head receives a
 * message.
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

  /** Called when this client neither holds the lock nor waits for the lock. */
  stopHeartbeat(): void {
    this.#heartbeat.remove(this)
  }

  get isEmpty(): boolean {
    return this.places.size === 0
  }

  /** Queues for the lock. Resolves when the waiter has the lock or is settled. */
  async wait(waiter: Waiter): Promise<void> {
    const place = new Place(waiter, ownerIdOf(waiter))
    if (!waiter.asksOnce) this.places.add(place)
    let done = false
    while (!done && !waiter.settled) {
      waiter.wakeEvent.reset()
      const own = this.#own(waiter)
      if (own !== undefined) {
        this.#remove(place)
        reenter(this.#lock, own, waiter)
        return
      }
      done = this.#claim(place) || (await this.#acquire(place))
    }
    this.#remove(place)
    if (!waiter.asking) abandonId(this.#lock, waiter)
  }

  /** Called when a message, a heartbeat or a release reports that this owner id has the lock. */
  onGrant(owner: string, token: number, path?: AcquirePath): void {
    const { clock } = this.#lock.services
    const place = this.places.get(owner)
    if (place !== undefined) {
      place.onGrant(token, path)
      // If the last answer about this place is too old, the waiter must send a request before it
      // uses this grant. In a long queue, a heartbeat is then sent at once. It refreshes many
      // places, so that the next waiters need no such request.
      if (this.places.size > MOST_IN_ONE && place.claim(clock) === null) this.#heartbeat.hurry(this)
    }
    // The waiter has left the queue. Its late grant is released, because it would block the queue
    // until the claim window ends.
    else if (!this.#lock.holds.all.some((hold) => hold.token === token)) {
      this.#heartbeat.refuse(this.#inTurn, owner, token)
    }
  }

  /**
   * Handles the answer to a heartbeat.
   *
   * @param asked the places that the heartbeat listed
   * @param sentAt the time when the heartbeat was sent
   */
  beaten(asked: readonly Place[], beat: HeartbeatAnswer, sentAt: Moment): void {
    const { first, granted, lastToken } = beat
    for (const place of asked) {
      const { wireOwner } = place
      if (this.places.get(wireOwner) !== place || wireOwner === granted) continue
      const isFirst = wireOwner === first
      place.queued({ ...beat, first: isFirst }, sentAt)
      place.waiter.saw({ holder: beat.holder, ttlMs: beat.ttlMs, position: isFirst ? 1 : null })
    }
    // The heartbeat may not have listed the head of the queue and the granted place, so both are
    // updated here.
    const head = this.places.get(first)
    if (head?.answered) head.queued({ ...beat, first: true }, sentAt)
    this.places.get(granted)?.onGrant(lastToken)
    if (this.places.size === 0) return
    // Clients that do not use the queue publish a message at a release. A client that still waits
    // at its first heartbeat listens for these messages. If a message is lost, the next heartbeat
    // finds the release.
    this.#listening ??= this.#lock.remote.listen(({ kind }) => {
      if (kind === 'released') this.checkAgain()
    })
  }

  /**
   * Called when the lock may be free. Wakes the first waiter, whose request makes the server grant
   * a free lock to the head of the queue.
   */
  checkAgain(): void {
    const [next] = this.places
    next?.waiter.wakeEvent.set()
  }

  /**
   * Called when this owner has acquired the lock. Wakes the owner's other waiters, because they can
   * now re-enter.
   */
  wake(owner: Owner): void {
    if (!this.places.hasOf(owner)) return
    for (const { waiter } of this.places) if (waiter.request.owner === owner) waiter.wakeEvent.set()
  }

  #own({ request }: Waiter): Hold | undefined {
    return this.#lock.holds.of(request.owner, request.kind)
  }

  #remove(place: Place): void {
    if (!this.places.delete(place)) return
    this.#inFlight.done(place)
    place.removed()
    if (this.places.size > 0) return
    this.#listening?.stop()
    this.#listening = null
  }

  /**
   * Uses a reported grant without another request, if that is safe.
   *
   * @returns true if the waiter has the lock
   */
  #claim(place: Place): boolean {
    const claim = place.claim(this.#lock.services.clock)
    const { watchdog, server } = this.#lock.services
    // A client with a stand-in may block its event loop for longer than the claim window. A
    // confirmation by replicas also takes time. In these two cases the waiter sends a request,
    // which gives the lock the whole lease.
    if (claim === null || watchdog.hasStandIn || server.confirm !== undefined) return false
    const { waiter, claimMs } = place
    const hold = this.#hold(place, claim.token, claim.sentAt, claimMs)
    if (hold === null) return false
    hold.beganAt = this.#lock.services.clock.monotonic()
    // The request is sent before the caller continues, because the caller may block the event loop
    // for longer than the claim window.
    confirmGrant(this.#lock, this.#inTurn, hold, waiter.request.leaseMs, claimMs / 3)
    waiter.accept(hold, place.path)
    return true
  }

  /** @returns the new hold; null if the client received the grant after its lease had ended */
  #hold(place: Place, token: number, sentAt: Moment, leaseMs: number): Hold | null {
    const hold = this.#lock.holds.newHold(place.waiter, { token }, sentAt, leaseMs)
    if (hold !== null) this.#remove(place)
    return hold
  }

  #queueUp({ waiter, ticket }: Place): Promise<RequestOutcome<QueueAnswer>> {
    const callMs = callMsFor(waiter)
    const owner = ownerIdOf(waiter)
    const { leaseMs } = waiter.request
    const waits = !waiter.asksOnce
    waiter.queued ||= waits
    const listens = () => this.#heartbeat.listens
    const attempt = { owner, leaseMs, ticket: waits ? ticket : null, listens, callMs }
    const lock = this.#lock
    const asked = sendFor<QueueAnswer>(lock, waiter, callMs, (reply) =>
      this.#inTurn.acquire(attempt, reply),
    )
    const { confirm } = lock.services.server
    if (confirm === undefined) return asked
    return asked.then((answer) => confirmed(lock, waiter, confirm, answer))
  }

  /**
   * Sends one request, and then waits for the next wake-up.
   *
   * @returns true if the waiter no longer needs the queue
   */
  async #acquire(place: Place): Promise<boolean> {
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
      waiter.accept(hold, place.path)
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
      // If a grant arrived or the wait ended during the request, the wake event is already set. The
      // wait then returns at once.
      await waiter.wakeEvent.wait(grant.ttlMs === Infinity ? untilCheckMs() : undefined)
    } else {
      await waiter.wakeEvent.wait(pauseMs)
    }
    return false
  }
}
