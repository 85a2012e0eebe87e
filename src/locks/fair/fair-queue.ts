import type { Moment } from '../../kit/clock.ts'
import type { Hold } from '../../lease/hold.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import { passedOn } from '../../local/passed-on.ts'
import type { QueuedWaiters } from '../../local/queued-waiters.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HeartbeatAnswer, NextHolder, Released } from '../../servers/answers.ts'
import { CLAIM_MS, type RemoteFairLock } from '../../servers/fair-server.ts'
import { NO_REPLY, type Reply } from '../../servers/reply.ts'
import { type LoweredHold, wholeRelease } from '../../servers/requests.ts'
import type { Subscription } from '../../servers/subscription.ts'
import type { Waiter } from '../../waiting/waiter.ts'
import { FairRun } from './fair-run.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { OwnGrant, OwnRelease, Place } from './place.ts'
import { MOST_IN_ONE, Places } from './places.ts'
import { RequestsInFlight } from './requests-in-flight.ts'

/**
 * The waiters of one client for one fair lock. Each waiter has its own place in the queue on the
 * server, so the FIFO order covers the waiters of all clients. The waiters do not race for the
 * lock. A release grants the lock to the head of the queue. The client of the head learns this from a
 * message, or from the answer to its own release.
 */
export class FairQueue implements QueuedWaiters {
  readonly rawName: string
  readonly inTurn: RemoteFairLock
  readonly places = new Places()
  readonly run = new FairRun()
  readonly #lock: LocalLock
  readonly #heartbeat: Heartbeat
  readonly #inFlight = new RequestsInFlight()
  #listening: Subscription | null = null

  constructor(heartbeat: Heartbeat, lock: LocalLock, inTurn: RemoteFairLock) {
    this.inTurn = inTurn
    this.rawName = lock.rawName
    this.#lock = lock
    this.#heartbeat = heartbeat
    this.#heartbeat.join(this)
  }

  /**
   * Removes the served places of the {@link FairRun} from the server, and this queue from the
   * heartbeat. The heartbeat then releases all new grants for this lock.
   */
  stopHeartbeat(): void {
    this.#removeServed()
    this.#heartbeat.remove(this)
  }

  get isEmpty(): boolean {
    return this.places.size === 0
  }

  /**
   * True if the waiter of this place may send its request now. Otherwise the waiter is woken when
   * another request has ended.
   */
  admits(place: Place): boolean {
    return this.#inFlight.admits(place)
  }

  /** Called when the server has answered a request for this place. */
  answered(place: Place): void {
    place.answered = true
    this.#inFlight.done(place)
  }

  remove(place: Place): void {
    if (!this.places.delete(place)) return
    this.#inFlight.done(place)
    place.removed()
    if (this.places.size > 0) return
    this.#listening?.stop()
    this.#listening = null
  }

  onOwnRelease(following: NextHolder, releasedAt?: Moment): void {
    this.onGrant(following, { releasedAt })
  }

  passOn(hold: Hold): { waiter: Waiter; following: Hold } | null {
    const { run } = this
    const place = run.next(hold, this.places)
    if (place === undefined) return null
    const { waiter } = place
    const following = passedOn(this.#lock, hold, waiter, run.confirmation)
    if (following === null) return null
    // The next release removes the place from the server's queue, so the waiter does not have to.
    run.addServed(place)
    waiter.ownerId = undefined
    waiter.queued = false
    this.remove(place)
    return { waiter, following }
  }

  /**
   * Ends a hold on the server, and removes the served places. The server may then choose the next
   * holder and its run.
   */
  endHold(ending: LoweredHold, reply: Reply<Released>): void {
    const most = this.#longestRun
    const { served } = this.run
    if (served.length === 0) {
      this.inTurn.endHold(most === 0 ? ending : { ...ending, most }, reply)
      return
    }
    const asked = { ...ending, most, served }
    this.inTurn.endHold(asked, {
      answered: (released) => {
        this.run.removeServed(served)
        reply.answered(released)
      },
      failed: (failure) => reply.failed(failure),
    })
  }

  get #longestRun(): number {
    if (this.places.size === 0) return 0
    const { server, watchdog } = this.#lock.services
    // In these two cases, waiters do not use a reported grant, but send a request of their own.
    if (server.confirm !== undefined || watchdog.hasStandIn) return 0
    return this.run.longest(this.places)
  }

  /**
   * Called when a message or the answer to a release reports that an owner of this client has the
   * lock.
   *
   * @param byRelease the release of this client that made the grant; undefined if none is known
   */
  onGrant(grant: OwnGrant, byRelease?: OwnRelease): void {
    const { clock } = this.#lock.services
    const { owner, token } = grant
    const place = this.places.get(owner)
    if (place !== undefined) {
      place.onGrant(grant, byRelease)
      // If the last answer about this place is too old, the waiter must send a request first. In a
      // long queue, a heartbeat then refreshes many places, so that the next waiters need no such
      // request.
      if (this.places.size > MOST_IN_ONE && place.usableGrant(clock) === null)
        this.#heartbeat.hurry(this)
    }
    // No hold has this token, so the waiter has left the queue. The client releases the grant,
    // because the grant would block the queue until the claim window ends.
    else if (!this.#lock.holds.all.some((hold) => hold.lastToken === token)) {
      this.#heartbeat.refuse(this.inTurn, owner, token)
    }
  }

  /**
   * Handles the answer to a heartbeat.
   *
   * @param asked the places that the heartbeat listed
   * @param sentAt the time when the heartbeat was sent
   */
  onHeartbeatAnswer(asked: readonly Place[], beat: HeartbeatAnswer, sentAt: Moment): void {
    const { first, granted, lastToken } = beat
    for (const place of asked) {
      const { ownerId } = place
      if (this.places.get(ownerId) !== place || ownerId === granted) continue
      const isFirst = ownerId === first
      place.queued({ ...beat, first: isFirst }, sentAt)
      place.waiter.saw({ holder: beat.holder, ttlMs: beat.ttlMs, position: isFirst ? 1 : null })
    }
    // Updates the head of the queue and the granted place too, because the heartbeat may not have
    // listed them.
    const head = this.places.get(first)
    if (head?.answered) head.queued({ ...beat, first: true }, sentAt)
    this.places.get(granted)?.onGrant({ token: lastToken })
    if (this.places.size === 0) return
    // Holders outside the queue, such as owners of `getLock`, publish a message at a release. After
    // its first heartbeat, a client listens for these messages. If a message is lost, the next
    // heartbeat finds the release.
    this.#listening ??= this.#lock.remote.listen(({ kind }) => {
      if (kind === 'released') this.checkAgain()
    })
  }

  /**
   * Called when the lock may be free. Ends the run, removes the served places, and wakes the first
   * waiter. The request of this waiter makes the server grant a free lock to the head of the queue.
   */
  checkAgain(): void {
    this.run.stop()
    this.#removeServed()
    const [next] = this.places
    next?.waiter.wakeEvent.set()
  }

  /**
   * Removes the served places from the queue. Only needed after the loss of a hold, because no
   * release then removes them. If the request fails, the next release removes them, or they expire.
   */
  #removeServed(): void {
    const [owner] = this.run.served
    if (owner === undefined) return
    this.endHold(wholeRelease(owner, CLAIM_MS), NO_REPLY)
  }

  /**
   * Wakes the other waiters of an owner that has acquired the lock, because they can now re-enter.
   */
  wake(owner: Owner): void {
    if (!this.places.hasOf(owner)) return
    for (const { waiter } of this.places) if (waiter.request.owner === owner) waiter.wakeEvent.set()
  }
}
