import { Linked, type LinkedList } from '../../../kit/linked-list.ts'
import type { Subscription } from '../../subscription.ts'

/** A channel to which this client listens. */
export interface Channel {
  readonly name: string
  /** True if publishers use a sharded channel in a cluster that has sharded channels. */
  readonly isShardable: boolean
  /**
   * True if locks work without the channel. The client then subscribes separately, because a
   * refusal must not affect other channels.
   */
  readonly isOptional: boolean
  confirmed: boolean
  readonly listeners: LinkedList<ChannelListener>
}

/** Forgets a channel when its last listener stops. */
interface ChannelEvents {
  forget(channel: Channel): void
}

export class ChannelListener extends Linked<ChannelListener> implements Subscription {
  readonly onWake: (message?: string) => void
  readonly #channel: Channel
  readonly #host: ChannelEvents
  #isStopped = false

  constructor(channel: Channel, onWake: (message?: string) => void, host: ChannelEvents) {
    super()
    this.onWake = onWake
    this.#channel = channel
    this.#host = host
    channel.listeners.add(this)
  }

  get confirmed(): boolean {
    return this.#channel.confirmed
  }

  /** Calls `onWake` unless the listener has stopped. */
  wake(): void {
    if (!this.#isStopped) this.onWake()
  }

  stop(): void {
    this.#isStopped = true
    const { listeners } = this.#channel
    listeners.remove(this)
    if (listeners.size === 0) this.#host.forget(this.#channel)
  }
}
