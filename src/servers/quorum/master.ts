import { within } from '../../kit/within.ts'
import type {
  AcquireAnswer,
  HandOverAnswer,
  LeaseToRenew,
  ReenterAnswer,
  Released,
  SeenHold,
} from '../answers.ts'
import { CallFailure, NoAnswer, NotConnected } from '../call-failure.ts'
import { type Hint, releaseHint } from '../hint.ts'
import type { RemoteLock } from '../lock-server.ts'
import { type LockKeys, lockKeys } from '../redis/calls/keys.ts'
import { labelOf } from '../redis/connection/open-client.ts'
import { RedisLock } from '../redis/redis-lock.ts'
import type { RedisServer } from '../redis/redis-server.ts'
import type { RenewedLease } from '../renewed-lease.ts'
import { promised } from '../reply.ts'
import type { Attempt, LoweredHold, Passing, Reentry } from '../requests.ts'
import type { Subscription } from '../subscription.ts'
import { Attempts } from './attempts.ts'
import { ownMark } from './delayed-restart.ts'
import { Enrolment } from './enrolment.ts'
import type { MasterSettings } from './master-settings.ts'
import { RoundTrip } from './round-trip.ts'
import { agreeAt, reenterByVote, requestVote, restoreAt } from './vote-commands.ts'

interface MasterPeers {
  /** Lets unused masters vote at once. Resolves to true if a new request for votes may succeed. */
  found(): Promise<boolean>
  all(): readonly Master[]
}

/** One master of a quorum: a server that votes, and may lose its votes with its data. */
export class Master {
  readonly server: RedisServer
  /** The name of the master in errors. */
  readonly label: string
  /** The response time of the master to requests for votes. */
  readonly roundTrip = new RoundTrip()
  readonly #settings: MasterSettings
  readonly #peers: MasterPeers
  readonly #nameOf: ((lock: string) => string) | undefined
  readonly #attempts: Attempts
  readonly #enrolment: Enrolment
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
    const free = (keys: LockKeys, ending: LoweredHold) =>
      promised<Released>((reply) => new RedisLock(node, keys).lower(ending, reply))
    this.#attempts = new Attempts(node, free, settings)
    const all = () => peers.all().map((master) => master.server)
    const { restMs, callMs } = settings
    this.#enrolment = new Enrolment(node, restMs, { all, found: () => peers.found() })
    this.#ignoreUps = node.onUp(() => this.#enrolment.anew(callMs))
  }

  /** Asks for a vote. If the master must be enrolled first, enrols it and asks again. */
  acquire(keys: LockKeys, attempt: Attempt): Promise<AcquireAnswer> {
    const here = this.#here(keys)
    const { restMs } = this.#settings
    const request = (leftMs: number, onSend: () => void) =>
      requestVote(this.server, here, { ...attempt, callMs: leftMs }, restMs, onSend)
    const { owner, callMs } = attempt
    const vote = (onSend: () => void) => {
      const sentAt = performance.now()
      return request(callMs, onSend).then((answer) => {
        this.roundTrip.took(performance.now() - sentAt)
        if (answer.kind !== 'forgot') return this.#enrolment.voted(answer)
        const endsAt = sentAt + callMs
        return this.#enrolment.remind(answer, endsAt, (leftMs) => request(leftMs, onSend))
      })
    }
    // The request counts as under way even before the connection is up, because a hand-over waits
    // for its answer.
    return this.#counted(
      this.#attempts.track(owner, callMs, (onSend) => this.#request(() => vote(onSend))),
    )
  }

  reenter(keys: LockKeys, reentry: Reentry): Promise<ReenterAnswer> {
    const { restMs } = this.#settings
    const request = () => reenterByVote(this.server, this.#here(keys), reentry, restMs)
    return this.#counted(this.#request(request))
  }

  async handOver(keys: LockKeys, passing: Passing): Promise<HandOverAnswer> {
    const here = this.#here(keys)
    const { from, to, callMs } = passing
    const endingDone = this.#attempts.ending(here, from.owner)
    let sentAt = 0
    try {
      const endsAt = performance.now() + callMs
      const answer = await this.#attempts.track(to.owner, callMs, async (onSend) => {
        await within(callMs, this.#attempts.answered(from.owner))
        sentAt = performance.now()
        const leftMs = endsAt - sentAt
        if (leftMs < 1) throw new NoAnswer('unsent', 'no answer to the previous request in time')
        const inTime = { ...passing, callMs: leftMs }
        const outcome = await this.#request(() =>
          promised<HandOverAnswer>((reply) => this.#lock(keys).handOver(inTime, reply, true)),
        )
        onSend()
        return outcome
      })
      endingDone(sentAt)
      return answer
    } catch (failure) {
      endingDone()
      throw failure
    }
  }

  /** Lowers the hold count of the owner id to `holds`; 0 ends the hold. */
  lower(keys: LockKeys, owner: string, holds: number, timeoutMs: number): Promise<Released> {
    return this.#attempts.lower(this.#here(keys), owner, holds, timeoutMs)
  }

  async renew(
    leases: readonly LeaseToRenew[],
    leaseMs: number,
    timeoutMs: number,
  ): Promise<RenewedLease[]> {
    const nameOf = this.#nameOf ?? ((rawName) => rawName)
    const here = leases.map(({ rawName, wireOwner }) => ({ rawName: nameOf(rawName), wireOwner }))
    return this.#counted(this.#request(() => this.server.renew(here, leaseMs, timeoutMs)))
  }

  /** Releases the holds of the owner id, not before `fromMs` on `performance.now()`. */
  abandon(keys: LockKeys, owner: string, fromMs?: number): void {
    this.#attempts.abandon(this.#here(keys), owner, fromMs)
  }

  /** Ends the hold of this owner id. No repair restores the hold. True if the hold existed here. */
  forceRelease(keys: LockKeys, seen: SeenHold, timeoutMs: number): Promise<boolean> {
    const { restMs } = this.#settings
    return this.#request(() => this.#lock(keys).forceRelease(seen, timeoutMs, restMs))
  }

  read<F>(keys: LockKeys, read: (lock: RemoteLock) => Promise<F>): Promise<F> {
    return this.#request(() => read(this.#lock(keys)))
  }

  mark(timeoutMs: number): ReturnType<typeof ownMark> {
    const { restMs } = this.#settings
    return this.#counted(this.#request(() => ownMark(this.server, restMs, timeoutMs)))
  }

  identify(timeoutMs: number): Promise<string | null> {
    return this.#request(() => this.server.identify(timeoutMs))
  }

  listen(keys: LockKeys, onHint: (hint: Hint) => void): Subscription {
    return this.server.listen(this.#here(keys), (message) => onHint(releaseHint(message)))
  }

  /** Returns the rank of this master for this lock. All clients compute the same rank. */
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

  /** Stops all requests, and the releases in the background. */
  stopRequests(): void {
    this.#closed = true
    this.#ignoreUps()
    this.#attempts.stopReleases()
  }

  /** @returns true if the owner holds the lock here, and the counter here is not below the token */
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
    let isThere = false
    await this.#attempts.track(lease.wireOwner, timeoutMs, (onSend) =>
      restoreAt(this.server, here, lease, leaseMs, timeoutMs, (answer) => {
        onSend()
        isThere = answer === 'held'
      }),
    )
    return isThere
  }

  /** Fails at once if the master is down. Waits for the first connection for up to 2 × `callMs`. */
  #request<T>(call: () => Promise<T>): Promise<T> {
    const { server } = this
    if (server.everUp || server.whyDown !== undefined) return this.#requestIfUp(call)
    server.connect()
    return within(2 * this.#settings.callMs, server.known).then(() => this.#requestIfUp(call))
  }

  #requestIfUp<T>(call: () => Promise<T>): Promise<T> {
    // The connection may belong to another client, and stay open after this client is closed.
    if (this.#closed) return Promise.reject(new CallFailure('closed', 'the client was closed'))
    const { whyDown, everUp } = this.server
    if (whyDown !== undefined) return Promise.reject(whyDown)
    if (everUp) return call()
    return Promise.reject(new NotConnected('unsent', 'it is not connected yet'))
  }

  /** Rejects if another master is the same server, because a server has one vote. */
  #counted<T>(call: Promise<T>): Promise<T> {
    return call.then((answer) => {
      const { runId } = this.server.runner
      for (const other of this.#peers.all()) {
        if (other === this || runId === '' || other.server.runner.runId !== runId) continue
        throw new CallFailure(
          'misused',
          `it is the same server as ${other.label}, and a server has one vote`,
        )
      }
      return answer
    })
  }

  #lock(keys: LockKeys): RedisLock {
    return new RedisLock(this.server, this.#here(keys))
  }

  #here(keys: LockKeys): LockKeys {
    return this.#nameOf === undefined ? keys : lockKeys(this.#nameOf(keys.lock))
  }
}
