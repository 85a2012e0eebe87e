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
 * The waiters of one client for one fair lock. Each has its own place in the queue in Redis, so
 * that they keep their order among the waiters of all clients. They do not race for the lock. A
 * release grants it to the head of the queue, which receives a message.
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

  /** Called when this client neither holds the lock nor waits for it. */
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

  /** A message, a heartbeat or a release reports this grant. */
  granted(owner: string, token: number, path?: AcquirePath): void {
    const { clock } = this.#lock.services
    const place = this.places.get(owner)
    if (place !== undefined) {
      place.granted(token, path)
      // In a long queue, each waiter would otherwise send a request in its turn.
      if (this.places.size > MOST_IN_ONE && place.claim(clock) === null) this.#heartbeat.hurry(this)
    }
    // The waiter has left. It must not hold up the queue, so the late grant is released.
    else if (!this.#lock.holds.all.some((hold) => hold.token === token)) {
      this.#heartbeat.refuse(this.#inTurn, owner, token)
    }
  }

  /** The answer of a heartbeat, sent at `sentAt`, about some of the places. */
  beaten(asked: readonly Place[], beat: HeartbeatAnswer, sentAt: Moment): void {
    const { first, granted, lastToken } = beat
    for (const place of asked) {
      const { wireOwner } = place
      if (this.places.get(wireOwner) !== place || wireOwner === granted) continue
      const isFirst = wireOwner === first
      place.queued({ ...beat, first: isFirst }, sentAt)
      place.waiter.saw({ holder: beat.holder, ttlMs: beat.ttlMs, position: isFirst ? 1 : null })
    }
    // The head and the granted place may be missing in `asked`.
    const head = this.places.get(first)
    if (head?.answered) head.queued({ ...beat, first: true }, sentAt)
    this.places.get(granted)?.granted(lastToken)
    if (this.places.size === 0) return
    // Clients that do not know the queue publish releases too, and long waits listen for them. The
    // next heartbeat finds a release whose message was missed.
    this.#listening ??= this.#lock.remote.listen((message) => {
      if (message !== undefined) this.lookAgain()
    })
  }

  /** The lock may be free. The request of the first waiter moves the queue on. */
  lookAgain(): void {
    const [next] = this.places
    next?.waiter.wakeEvent.set()
  }

  /** An acquisition by this owner may turn its other waiters into re-entries. */
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

  /** @returns true if a grant gave the waiter the lock without a request */
  #claim(place: Place): boolean {
    const claim = place.claim(this.#lock.services.clock)
    const { watchdog, server } = this.#lock.services
    // With a stand-in, the caller may block the event loop for longer than a claim lasts. A
    // confirmation by replicas takes time too. So these waiters ask, and get the whole lease.
    if (claim === null || watchdog.hasStandIn || server.confirm !== undefined) return false
    const { waiter, claimMs } = place
    const hold = this.#hold(place, claim.token, claim.sentAt, claimMs)
    if (hold === null) return false
    hold.beganAt = this.#lock.services.clock.monotonic()
    // Sent before the caller continues, because it may block the event loop for longer than the
    // claim window. If this fails, the hold is lost at the end of its claim window.
    lengthen(this.#lock, hold, waiter.request.leaseMs, claimMs / 3).catch(() => {})
    waiter.granted(hold, place.path)
    return true
  }

  /** @returns the hold of a grant; null if the grant came too late */
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

  /** @returns true if the waiter is done with the queue */
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
      // A grant has set the event if it came meanwhile. So has the end of the wait.
      await waiter.wakeEvent.wait(grant.ttlMs < 0 ? untilLookMs() : undefined)
    } else {
      await waiter.wakeEvent.wait(pauseMs)
    }
    return false
  }
}
