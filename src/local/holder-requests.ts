import type { Emit } from '../events.ts'
import { outsideFrames } from '../kit/frame-storage.ts'
import type { Hold } from '../lease/hold.ts'
import { ReleaseRequestedError } from '../lease/release-requested-error.ts'
import type { RevocationRequest } from './revocation-messages.ts'

/** The client that is asked. */
interface Client {
  readonly emit: Emit
  /** Whether anybody listens for the event `releaseRequested`. */
  hasListeners(): boolean
}

/** So many requests are remembered, of those that may come twice. */
const MOST_REMEMBERED = 100

/**
 * The requests to release holds of one client, wherever they live. One counts as heard if the hold is there, and its
 * holder listens: to the event, or to the signal of a lease.
 */
export class HolderRequests {
  readonly #client: Client
  /** The holds of each place. */
  readonly #places = new Set<() => readonly Hold[]>()
  /** One for each hold whose signal somebody has. */
  readonly #signals = new WeakMap<Hold, AbortController>()
  /** The first request for each hold. */
  readonly #requested = new WeakMap<Hold, ReleaseRequestedError>()
  /** Whose holders were told, by the ids of requests. */
  readonly #remembered = new Map<string, readonly string[]>()
  #mayHaveListeners = false

  constructor(client: Client) {
    this.#client = client
  }

  /** The event is listened to from now on. */
  listenerAdded(): void {
    this.#mayHaveListeners = true
  }

  /** Asked at each acquisition, so that is quick where nobody ever listened. */
  get hasListeners(): boolean {
    this.#mayHaveListeners &&= this.#client.hasListeners()
    return this.#mayHaveListeners
  }

  /** @returns takes the place away again */
  add(holds: () => readonly Hold[]): () => void {
    this.#places.add(holds)
    return () => this.#places.delete(holds)
  }

  /** Whether anybody would hear of a request for that hold. */
  isHeardBy(hold: Hold): boolean {
    return this.#signals.has(hold) || this.hasListeners
  }

  /** Aborts when the release of that hold is requested, or has been. */
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

  /** @returns the owners whose holders have been told, even if that was done by the same request before */
  hear(request: RevocationRequest): readonly string[] {
    const before = this.#remembered.get(request.id)
    if (before !== undefined) return before
    const holds = [...this.#places].flatMap((place) => place())
    const wanted = new Set(request.owners)
    const meant = holds.filter(({ id }) => wanted.has(id.wireOwner))
    const heard = meant.filter((hold) => this.#tell(hold, request)).map(({ id }) => id.wireOwner)
    // If nobody has heard of it a repeat may find somebody.
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
