import { EventEmitter } from 'eventemitter3'
import type { HoldfastEvents } from './events.ts'
import { refuseDetached } from './kit/handle.ts'
import { INSPECT, type Inspect, printed } from './kit/printed.ts'

type Name = EventEmitter.EventNames<HoldfastEvents>
type ClientListener<E extends Name> = EventEmitter.EventListener<HoldfastEvents, E>

/**
 * The event emitter of a client. While `releaseRequested` has a listener, the client receives requests to release the
 * locks that it holds.
 */
export abstract class ClientEmitter extends EventEmitter<HoldfastEvents> {
  override on<E extends Name>(event: E, listener: ClientListener<E>, context?: unknown): this {
    super.on(event, listener, context)
    return this.#listenerAdded(event)
  }

  override addListener<E extends Name>(
    event: E,
    listener: ClientListener<E>,
    context?: unknown,
  ): this {
    return this.on(event, listener, context)
  }

  override once<E extends Name>(event: E, listener: ClientListener<E>, context?: unknown): this {
    super.once(event, listener, context)
    return this.#listenerAdded(event)
  }

  #listenerAdded(event: Name): this {
    if (event === 'releaseRequested') this.listensToRequests()
    return this
  }

  /**
   * Called after a listener of `releaseRequested` was added.
   *
   * @internal
   */
  protected abstract listensToRequests(): void

  abstract toJSON(): Record<string, unknown>

  /** @internal */
  [INSPECT](_depth: number, options: object, inspect: Inspect): string {
    return printed(this, options, inspect)
  }
}

refuseDetached(ClientEmitter, 'holdfast')
