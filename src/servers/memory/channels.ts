import type { Clock } from '../../kit/clock.ts'
import type { Subscription } from '../subscription.ts'
import { later } from './later.ts'

type MessageListener<M> = (message?: M) => void

/**
 * The listeners of each channel, by connection. A connection counts once, even when it has several
 * listeners.
 */
export class Channels<M> {
  readonly #clock: Clock
  readonly #all = new Map<string, Map<object, Set<MessageListener<M>>>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Adds a listener, and soon calls it once without a message, because it may have missed messages.
   */
  listen(name: string, connection: object, listener: MessageListener<M>): Subscription {
    const listeners = this.#listenersOf(name, connection)
    listeners.add(listener)
    later(this.#clock, () => {
      if (listeners.has(listener)) listener()
    })
    return {
      confirmed: true,
      stop: () => {
        if (listeners.delete(listener) && listeners.size === 0) this.#forget(name, connection)
      },
    }
  }

  /** @returns the number of connections that listen to the channel */
  publish(name: string, message: M): number {
    const count = this.count(name)
    if (count > 0) later(this.#clock, () => this.#call(name, message))
    return count
  }

  /** Returns the number of connections that listen to the channel. */
  count(name: string): number {
    return this.#all.get(name)?.size ?? 0
  }

  get names(): string[] {
    return [...this.#all.keys()]
  }

  /** Calls all listeners of all channels without a message. */
  callAll(): void {
    for (const name of this.names) this.#call(name)
  }

  /** Removes all listeners of a connection. Called when the connection closes. */
  removeAll(connection: object): void {
    for (const [name, connections] of this.#all) {
      connections.get(connection)?.clear()
      if (connections.has(connection)) this.#forget(name, connection)
    }
  }

  #listenersOf(name: string, connection: object): Set<MessageListener<M>> {
    let connections = this.#all.get(name)
    if (connections === undefined) {
      connections = new Map()
      this.#all.set(name, connections)
    }
    let listeners = connections.get(connection)
    if (listeners === undefined) {
      listeners = new Set()
      connections.set(connection, listeners)
    }
    return listeners
  }

  #forget(name: string, connection: object): void {
    const connections = this.#all.get(name)
    connections?.delete(connection)
    if (connections?.size === 0) this.#all.delete(name)
  }

  #call(name: string, message?: M): void {
    const connections = [...(this.#all.get(name)?.values() ?? [])]
    for (const listener of connections.flatMap((listeners) => [...listeners])) listener(message)
  }
}
