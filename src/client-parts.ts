import type { ClientEmitter } from './client-emitter.ts'
import { emitBy } from './kit/call-listeners.ts'
import { Deadline } from './kit/deadline.ts'
import { Backend, type SharedParts } from './local/backend.ts'
import { HolderRequests } from './local/holder-requests.ts'
import type { CutOffHold, Holdings } from './local/holdings.ts'
import { together } from './local/list-holdings.ts'
import type { ClientConnection } from './local/server-connection.ts'
import { RedLocks } from './locks/red/red-lock.ts'
import type { Settings } from './options/settings.ts'
import { Frames } from './owner/frames.ts'
import { Owners } from './owner/owners.ts'
import { rawNameOf } from './servers/raw-name.ts'

/** The objects of one client for the kinds of locks that need a single server. */
interface SingleServerKinds {
  readonly holdings: Holdings
  drain(): Promise<void>
  shutDown(): Promise<void>
  stopHeartbeat(): void
}

export function newClient(
  emitter: ClientEmitter,
  clientId: string,
  settings: Settings,
): SharedParts {
  const emit = emitBy(emitter)
  const hasListeners = () => emitter.listenerCount('releaseRequested') > 0
  const requests = new HolderRequests({ emit, hasListeners })
  return { owners: new Owners(clientId), frames: new Frames(), settings, emit, requests }
}

/** The components of one client. `shutDown` closes all of them. */
export class ClientParts {
  readonly owners: Owners
  readonly frames: Frames
  readonly backend: Backend
  readonly redLocks: RedLocks
  readonly #connection: ClientConnection
  readonly #keyPrefix: string
  readonly #drained: Deadline
  readonly #requests: HolderRequests
  #closing: Promise<readonly CutOffHold[]> | undefined

  constructor(
    client: SharedParts,
    connection: ClientConnection,
    newQuorum: ConstructorParameters<typeof RedLocks>[1],
  ) {
    this.owners = client.owners
    this.frames = client.frames
    this.#connection = connection
    this.#requests = client.requests
    this.#keyPrefix = client.settings.keyPrefix ?? connection.keyPrefix
    this.backend = new Backend(client, connection)
    this.#drained = new Deadline(this.backend.registry.clock)
    this.redLocks = new RedLocks(client, newQuorum)
  }

  /** For logs: the address of the servers, and the numbers of holds and waiters. RedLocks are not counted. */
  get facts(): Record<string, unknown> {
    return { at: this.#connection.address ?? 'memory', ...this.backend.registry.counts }
  }

  holdings(kinds: SingleServerKinds): Holdings {
    const parts = [this.backend.registry, this.redLocks, kinds]
    return together(parts.map((part) => part.holdings))
  }

  /**
   * If the client holds locks, begins to receive requests to release them. Called when
   * `releaseRequested` gets a listener.
   */
  listenerAdded(): void {
    this.#requests.listenerAdded()
    for (const { registry } of [this.backend, ...this.redLocks.backends]) {
      registry.revocations.listenerAdded()
    }
  }

  /**
   * Returns the raw name of a lock, or of another object with a name: its name on the server, with
   * the key prefix.
   *
   * @param what the word for the object in errors; `lock` by default
   */
  rawName(name: string, what?: string): string {
    return rawNameOf(name, this.#keyPrefix, this.#connection.nameRule, what)
  }

  /**
   * Closes the client. A later call returns the same promise, and can only shorten the wait.
   *
   * @param drainMs the longest wait until the client holds nothing, in milliseconds from now; 0 for
   * no wait
   * @returns the holds that this method ended, because they were still held after the wait
   */
  shutDown(drainMs: number, kinds: SingleServerKinds): Promise<readonly CutOffHold[]> {
    this.#drained.notAfter(drainMs)
    this.#closing ??= this.#shutDown(kinds)
    return this.#closing
  }

  async #shutDown(kinds: SingleServerKinds): Promise<readonly CutOffHold[]> {
    const { backend, redLocks } = this
    if (!this.#drained.isOver) {
      const parts = [kinds, backend, redLocks]
      await this.#drained.awaits(Promise.all(parts.map((part) => part.drain())))
    }
    const others = kinds.shutDown()
    const [held, heldByMajority] = await Promise.all([
      backend.shutDown(),
      redLocks.shutDown(),
      others,
    ])
    kinds.stopHeartbeat()
    await this.#connection.disconnect()
    return [...held, ...heldByMajority]
  }
}
