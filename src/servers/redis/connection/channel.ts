import { Linked, type LinkedList } from '../../../kit/linked-list.ts'
import type { Subscription } from '../../subscription.ts'

/** A channel that this client listens to. */
export interface Channel {
  readonly name: string
  /** Whether a cluster may have it in one shard: all who publish to it use sharded channels where there are any. */
  readonly isShardable: boolean
  /** Whether locks do without it: a refusal is to affect no other channel. */
  readonly isOptional: boolean
  confirmed: boolean
  readonly listeners: LinkedList<ChannelListener>
}

/** Forgets a channel when its last listener stops. */
interface Host {
  forget(channel: Channel): void
}

/** One listener of a channel. */
export class ChannelListener extends Linked<ChannelListener> implements Subscription {
  readonly onWake: (message?: string) => void
  readonly #channel: Channel
  readonly #host: Host

  constructor(channel: Channel, onWake: (message?: string) => void, host: Host) {
    super()
    this.onWake = onWake
    this.#channel = channel
    this.#host = host
    channel.listeners.add(this)
  }

  get confirmed(): boolean {
    return this.#channel.confirmed
  }

  stop(): void {
    const { listeners } = this.#channel
    listeners.remove(this)
    if (listeners.size === 0) this.#host.forget(this.#channel)
  }
}
