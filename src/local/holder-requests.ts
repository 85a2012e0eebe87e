import type { Emit } from '../events.ts'
import { outsideFrames } from '../kit/frame-storage.ts'
import type { Hold } from '../lease/hold.ts'
import { ReleaseRequestedError } from '../lease/release-requested-error.ts'
import type { RevocationRequest } from './revocation-messages.ts'

interface RequestedClient {
  readonly emit: Emit
  hasListeners(): boolean
}

/**
 * The client remembers the answers to this many requests. A request that arrives a second time gets
 * the same answer.
 */
const MOST_REMEMBERED = 100

/**
 * Passes release requests to the holders of one client, on all its servers. A holder hears a
 * request if the lease is valid, and code listens to the event or to the lease's signal.
 */
export class HolderRequests {
  readonly #client: RequestedClient
  /**
   * The functions that `add` received: each returns the holds of this client on one server or
   * quorum.
   */
  readonly #sources = new Set<() => readonly Hold[]>()
  /** One controller for each hold whose signal was read. */
  readonly #signals = new WeakMap<Hold, AbortController>()
  /**
   * The first release request that the holder heard, for each hold. If code reads the signal of the
   * hold later, the signal aborts with this error.
   */
  readonly #requested = new WeakMap<Hold, ReleaseRequestedError>()
  /** For each request id, the owners that heard the request. */
  readonly #remembered = new Map<string, readonly string[]>()
  #mayHaveListeners = false

  constructor(client: RequestedClient) {
    this.#client = client
  }

  /**
   * Called when `releaseRequested` gets a listener. `hasListeners` then counts the listeners again.
   */
  listenerAdded(): void {
    this.#mayHaveListeners = true
  }

  /**
   * True if the event `releaseRequested` has listeners. Every acquisition reads this property, so
   * listeners are counted only if there may be any.
   */
  get hasListeners(): boolean {
    this.#mayHaveListeners &&= this.#client.hasListeners()
    return this.#mayHaveListeners
  }

  /**
   * Adds the holds of one server or quorum.
   *
   * @returns a function that removes them again
   */
  add(holds: () => readonly Hold[]): () => void {
    this.#sources.add(holds)
    return () => this.#sources.delete(holds)
  }

  /** True if code listens to release requests for this hold. */
  hasListener(hold: Hold): boolean {
    return this.#signals.has(hold) || this.hasListeners
  }

  /**
   * Returns the signal that aborts when a client requests the release of the hold. The signal has
   * already aborted if the holder heard such a request before.
   */
  signalOf(hold: Hold): AbortSignal {
    let controller = this.#signals.get(hold)
    if (controller === undefined) {
      controller = new AbortController()
      this.#signals.set(hold, controller)
      const reason = this.#requested.get(hold)
      if (reason !== undefined) controller.abort(reason)
    }
    return controller.signal
  }

  /**
   * Passes the request to the holders.
   *
   * @returns the owners that heard the request, now or when it first arrived
   */
  receive(request: RevocationRequest): readonly string[] {
    const before = this.#remembered.get(request.id)
    if (before !== undefined) return before
    const holds = [...this.#sources].flatMap((holdsOf) => holdsOf())
    const wanted = new Set(request.owners)
    const meant = holds.filter(({ id }) => wanted.has(id.ownerId))
    const receivers = meant.filter((hold) => this.#emit(hold, request)).map(({ id }) => id.ownerId)
    // A request that no holder heard is not remembered, because a retry may reach a new listener.
    if (receivers.length > 0) this.#remember(request.id, receivers)
    return receivers
  }

  #emit(hold: Hold, { reason, by }: RevocationRequest): boolean {
    if (hold.remainingMs() === 0 || !this.hasListener(hold)) return false
    const event = { name: hold.lockName, owner: hold.id.ownerId, token: hold.token, reason, by }
    const error = new ReleaseRequestedError(event, hold.kind.words?.noun)
    if (!this.#requested.has(hold)) this.#requested.set(hold, error)
    this.#client.emit('releaseRequested', event)
    outsideFrames(() => this.#signals.get(hold)?.abort(error))
    return true
  }

  #remember(id: string, receivers: readonly string[]): void {
    this.#remembered.set(id, receivers)
    const [oldest] = this.#remembered.keys()
    if (this.#remembered.size > MOST_REMEMBERED) this.#remembered.delete(oldest as string)
  }
}
