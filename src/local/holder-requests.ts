import type { Emit } from '../events.ts'
import { outsideFrames } from '../kit/frame-storage.ts'
import type { Hold } from '../lease/hold.ts'
import { ReleaseRequestedError } from '../lease/release-requested-error.ts'
import type { RevocationRequest } from './revocation-messages.ts'

interface Client {
  readonly emit: Emit
  /** True if the event `releaseRequested` has a listener. */
  hasListeners(): boolean
}

/** The number of remembered requests. A request that arrives a second time gets the same answer. */
const MOST_REMEMBERED = 100

/**
 * Passes release requests to the holders of one client, on all servers. A request counts as heard
 * if the hold exists and its holder listens to the event, or to the signal of a lease.
 */
export class HolderRequests {
  readonly #client: Client
  /** One function for each server or quorum. It returns the holds on that server or quorum. */
  readonly #places = new Set<() => readonly Hold[]>()
  /** One controller for each hold whose signal a caller read. */
  readonly #signals = new WeakMap<Hold, AbortController>()
  /** The first request for each hold, for signals that are read later. */
  readonly #requested = new WeakMap<Hold, ReleaseRequestedError>()
  /** For each request id: the owners whose holders heard the request. */
  readonly #remembered = new Map<string, readonly string[]>()
  #mayHaveListeners = false

  constructor(client: Client) {
    this.#client = client
  }

  /** Called when the event gets a listener. */
  listenerAdded(): void {
    this.#mayHaveListeners = true
  }

  /** Each acquisition reads this, so it does not count listeners if the event never had one. */
  get hasListeners(): boolean {
    this.#mayHaveListeners &&= this.#client.hasListeners()
    return this.#mayHaveListeners
  }

  /** @returns a function that removes the server or quorum again */
  add(holds: () => readonly Hold[]): () => void {
    this.#places.add(holds)
    return () => this.#places.delete(holds)
  }

  /** True if a holder listens to requests for that hold. */
  isHeardBy(hold: Hold): boolean {
    return this.#signals.has(hold) || this.hasListeners
  }

  /**
   * Returns the signal that aborts when the release of the hold is requested. If that was requested
   * before, the signal has already aborted.
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

  /** @returns the owners whose holders heard the request, now or at its first arrival */
  hear(request: RevocationRequest): readonly string[] {
    const before = this.#remembered.get(request.id)
    if (before !== undefined) return before
    const holds = [...this.#places].flatMap((place) => place())
    const wanted = new Set(request.owners)
    const meant = holds.filter(({ id }) => wanted.has(id.wireOwner))
    const heard = meant.filter((hold) => this.#tell(hold, request)).map(({ id }) => id.wireOwner)
    // A request that no holder heard is not remembered, because a retry may reach a new listener.
    if (heard.length > 0) this.#remember(request.id, heard)
    return heard
  }

  #tell(hold: Hold, { reason, by }: RevocationRequest): boolean {
    if (hold.remainingMs() === 0 || !this.isHeardBy(hold)) return false
    const event = { name: hold.lockName, owner: hold.id.wireOwner, token: hold.token, reason, by }
    const error = new ReleaseRequestedError(event, hold.kind.words?.noun)
    if (!this.#requested.has(hold)) this.#requested.set(hold, error)
    this.#client.emit('releaseRequested', event)
    outsideFrames(() => this.#signals.get(hold)?.abort(error))
    return true
  }

  #remember(id: string, heard: readonly string[]): void {
    this.#remembered.set(id, heard)
    const [oldest] = this.#remembered.keys()
    if (this.#remembered.size > MOST_REMEMBERED) this.#remembered.delete(oldest as string)
  }
}
