import { within } from '../../../kit/within.ts'
import type {
  AcquireAnswer,
  HandOverAnswer,
  LeaseToRenew,
  ReenterAnswer,
  Released,
  SeenHold,
} from '../../answers.ts'
import { CallFailure, NoAnswer, NotConnected } from '../../call-failure.ts'
import { type Hint, releaseHint } from '../../hint.ts'
import type { RemoteLock } from '../../lock-server.ts'
import { type LockKeys, lockKeys } from '../../redis/calls/keys.ts'
import { labelOf } from '../../redis/connection/open-client.ts'
import { RedisLock } from '../../redis/redis-lock.ts'
import type { RedisServer } from '../../redis/redis-server.ts'
import type { RenewedLease } from '../../renewed-lease.ts'
import { promised, type Reply, replyWith } from '../../reply.ts'
import type { Attempt, LoweredHold, Passing, Reentry } from '../../requests.ts'
import type { Subscription } from '../../subscription.ts'
import { Attempts } from './attempts.ts'
import { CountedReply } from './counted-reply.ts'
import { ownMark } from './delayed-restart.ts'
import { Enrolment } from './enrolment.ts'
import type { MasterSettings } from './master-settings.ts'
import { RoundTrip } from './round-trip.ts'
import {
  agreeAt,
  type RestoreAnswer,
  reenterByVote,
  restoreAt,
  VoteRequest,
} from './vote-commands.ts'
import type { Voter } from './voter.ts'

interface MasterPeers {
  /**
   * Lets unused masters vote at once. Resolves to true if the caller should request the vote again.
   */
  found(): Promise<boolean>
  readonly all: () => readonly Master[]
}

/**
 * One server of a quorum, with one vote for each lock. If the server loses its data, it loses its
 * votes.
 */
export class Master implements Voter {
  readonly server: RedisServer
  readonly label: string
  readonly roundTrip = new RoundTrip()
  readonly #settings: MasterSettings
  readonly #peers: MasterPeers
  readonly #nameOf: ((lock: string) => string) | undefined
  readonly #attempts: Attempts
  readonly #voting: ConstructorParameters<typeof VoteRequest>[0]
  readonly #ignoreUps: () => void
  #closed = false

  /** @param nameOf returns a lock's raw name on this master; by default the name is unchanged */
  constructor(
    node: RedisServer,
    settings: MasterSettings,
    peers: MasterPeers,
    nameOf?: (lock: string) => string,
  ) {
    this.server = node
    this.label = labelOf(node.source)
    this.#settings = settings
    this.#peers = peers
    this.#nameOf = nameOf
    const lower = (keys: LockKeys, ending: LoweredHold, reply: Reply<Released>) =>
      new RedisLock(node, keys).lower(ending, reply)
    this.#attempts = new Attempts(node, lower, settings)
    const all = () => peers.all().map((master) => master.server)
    const { restMs, callMs } = settings
    const enrolment = new Enrolment(node, restMs, { all, found: () => peers.found() })
    this.#voting = { server: node, roundTrip: this.roundTrip, enrolment, longestMs: restMs }
    this.#ignoreUps = node.onUp(() => enrolment.onConnected(callMs))
  }

  acquire(keys: LockKeys, attempt: Attempt, reply: Reply<AcquireAnswer>): void {
    const here = this.#here(keys)
    // The request counts as under way even before the connection is up, because a later hand-over
    // waits for the answer to this request.
    const tracked = this.#attempts.track(attempt.owner, attempt.callMs, this.#counted(reply))
    this.#whenUp(tracked, () => new VoteRequest(this.#voting, here, attempt, tracked).send())
  }

  reenter(keys: LockKeys, reentry: Reentry, reply: Reply<ReenterAnswer>): void {
    const { server, longestMs } = this.#voting
    this.#whenUp(reply, () =>
      reenterByVote(server, this.#here(keys), reentry, longestMs, this.#counted(reply)),
    )
  }

  handOver(keys: LockKeys, passing: Passing, reply: Reply<HandOverAnswer>): void {
    const { from, to, callMs } = passing
    const endingDone = this.#attempts.ending(this.#here(keys), from.owner)
    let sentAt: number | undefined
    const tracked = this.#attempts.track<HandOverAnswer>(to.owner, callMs, {
      answered: (answer) => {
        endingDone(sentAt)
        reply.answered(answer)
      },
      failed: (failure) => {
        endingDone()
        reply.failed(failure)
      },
    })
    const endsAt = performance.now() + callMs
    void within(callMs, this.#attempts.answered(from.owner)).then(() => {
      sentAt = performance.now()
      const leftMs = endsAt - sentAt
      if (leftMs < 1) {
        tracked.failed(new NoAnswer('unsent', 'no answer to the previous request in time'))
        return
      }
      const inTime = { ...passing, callMs: leftMs }
      this.#whenUp(tracked, () => this.#lock(keys).handOver(inTime, tracked, true))
    })
  }

  lower(keys: LockKeys, ending: LoweredHold, reply: Reply<Released>): void {
    this.#attempts.lower(this.#here(keys), ending, reply)
  }

  renew(
    leases: readonly LeaseToRenew[],
    leaseMs: number,
    timeoutMs: number,
  ): Promise<RenewedLease[]> {
    const nameOf = this.#nameOf ?? ((rawName) => rawName)
    const here = leases.map(({ rawName, ownerId }) => ({ rawName: nameOf(rawName), ownerId }))
    return this.#requestCounted(() => this.server.renew(here, leaseMs, timeoutMs))
  }

  abandon(keys: LockKeys, owner: string, fromMs?: number): void {
    this.#attempts.abandon(this.#here(keys), owner, fromMs)
  }

  /**
   * Ends the hold of this owner id. Later repairs do not restore the hold. Returns true if the hold
   * existed here.
   */
  forceRelease(keys: LockKeys, seen: SeenHold, timeoutMs: number): Promise<boolean> {
    const { restMs } = this.#settings
    return this.#request(() => this.#lock(keys).forceRelease(seen, timeoutMs, restMs))
  }

  read<F>(keys: LockKeys, read: (lock: RemoteLock) => Promise<F>): Promise<F> {
    return this.#request(() => read(this.#lock(keys)))
  }

  mark(timeoutMs: number): ReturnType<typeof ownMark> {
    const { restMs } = this.#settings
    return this.#requestCounted(() => ownMark(this.server, restMs, timeoutMs))
  }

  identify(timeoutMs: number): Promise<string | null> {
    return this.#request(() => this.server.identify(timeoutMs))
  }

  listen(keys: LockKeys, onHint: (hint: Hint) => void): Subscription {
    return this.server.listen(this.#here(keys), (message) => onHint(releaseHint(message)))
  }

  rank(keys: LockKeys): number {
    let hash = 0
    const text = this.server.runner.runId + this.#here(keys).lock
    for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
    return hash
  }

  /** Resolves when no release is pending. While the master is down, waits only if `isNeeded()`. */
  quiet(isNeeded: () => boolean): Promise<void> {
    return this.#attempts.quiet(isNeeded)
  }

  /**
   * Called when the client closes. Most later requests fail, and the releases in the background
   * stop.
   */
  stopRequests(): void {
    this.#closed = true
    this.#ignoreUps()
    this.#attempts.stopReleases()
  }

  agree(keys: LockKeys, owner: string, token: number, timeoutMs: number): Promise<boolean> {
    return agreeAt(this.server, this.#here(keys), owner, token, timeoutMs)
  }

  /**
   * Restores a hold on this master, after a majority has confirmed the hold.
   *
   * @returns true if the owner id holds the lock on this master now
   */
  async restore(lease: LeaseToRenew, leaseMs: number, timeoutMs: number): Promise<boolean> {
    const here = this.#here(lockKeys(lease.rawName))
    const { isThere } = await promised<RestoreAnswer>((reply) => {
      const tracked = this.#attempts.track(lease.ownerId, timeoutMs, reply)
      restoreAt(this.server, here, lease, leaseMs, timeoutMs, tracked)
    })
    return isThere
  }

  #request<T>(call: () => Promise<T>): Promise<T> {
    return promised((reply) => this.#whenUp(reply, () => replyWith(call(), reply)))
  }

  #requestCounted<T>(call: () => Promise<T>): Promise<T> {
    return promised((reply) => replyWith(this.#request(call), this.#counted(reply)))
  }

  /**
   * Calls `send` if the master is up, or else fails the reply. Waits for the first connection for
   * up to 2 × `callMs`.
   */
  #whenUp(reply: Reply<never>, send: () => void, hasWaited = false): void {
    const { everUp, whyDown } = this.server
    const fail = (failure: CallFailure) => queueMicrotask(() => reply.failed(failure))
    if (!everUp && whyDown === undefined && !hasWaited) {
      this.server.connect()
      const waited = within(2 * this.#settings.callMs, this.server.known)
      void waited.then(() => this.#whenUp(reply, send, true))
    }
    // After this client is closed, another client may still use the open connection.
    else if (this.#closed) fail(new CallFailure('closed', 'the client was closed'))
    else if (whyDown !== undefined) fail(whyDown)
    else if (everUp) send()
    else fail(new NotConnected('unsent', 'it is not connected yet'))
  }

  #counted<A>(reply: Reply<A>): Reply<A> {
    return new CountedReply(this, this.#peers.all, reply)
  }

  #lock(keys: LockKeys): RedisLock {
    return new RedisLock(this.server, this.#here(keys))
  }

  #here(keys: LockKeys): LockKeys {
    return this.#nameOf === undefined ? keys : lockKeys(this.#nameOf(keys.lock))
  }
}
