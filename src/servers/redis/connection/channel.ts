import { Linked, type LinkedList } from '../../../kit/linked-list.ts'
import type { Subscription } from '../../subscription.ts'

/** A channel that this client listens to. */
export interface Channel {
  readonly name: string
  /** Whether it is the channel of one lock, which a cluster may have in the shard of the lock. */
  readonly ofLock: boolean
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
