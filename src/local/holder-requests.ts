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

/** The number of requests that are remembered, because a request may arrive twice. */
const MOST_REMEMBERED = 100

/**
 * The requests to release holds of one client, on all servers. A request counts as heard if the
 * hold exists and its holder listens. A holder listens to the event, or to the signal of a lease.
 */
export class HolderRequests {
  readonly #client: Client
  /** For each server or quorum, a function that returns its holds. */
  readonly #places = new Set<() => readonly Hold[]>()
  /** One controller for each hold whose signal a caller read. */
  readonly #signals = new WeakMap<Hold, AbortController>()
  /** The first request for each hold. */
  readonly #requested = new WeakMap<Hold, ReleaseRequestedError>()
  /** The owners whose holders heard a request, by the id of the request. */
  readonly #remembered = new Map<string, readonly string[]>()
  #mayHaveListeners = false

  constructor(client: Client) {
    this.#client = client
  }

  /** Called when the event gets a listener. */
  listenerAdded(): void {
    this.#mayHaveListeners = true
  }

  /** Each acquisition reads this, so it is fast if the event never had a listener. */
  get hasListeners(): boolean {
    this.#mayHaveListeners &&= this.#client.hasListeners()
    return this.#mayHaveListeners
  }

  /** @returns a function that removes the holds again */
  add(holds: () => readonly Hold[]): () => void {
    this.#places.add(holds)
    return () => this.#places.delete(holds)
  }

  /** True if a listener would receive a request for that hold. */
  isHeardBy(hold: Hold): boolean {
    return this.#signals.has(hold) || this.hasListeners
  }

  /** Aborts when the release of the hold is requested, or at once if it was requested before. */
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

  /** @returns the owners whose holders heard the request, now or when it arrived before */
  hear(request: RevocationRequest): readonly string[] {
    const before = this.#remembered.get(request.id)
    if (before !== undefined) return before
    const holds = [...this.#places].flatMap((place) => place())
    const wanted = new Set(request.owners)
    const meant = holds.filter(({ id }) => wanted.has(id.wireOwner))
    const heard = meant.filter((hold) => this.#tell(hold, request)).map(({ id }) => id.wireOwner)
    // If no holder heard the request, a retry may reach a new listener.
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
