import { LinkedList } from '../../../kit/linked-list.ts'
import type { Channel } from './channel.ts'

/** The channels to which one connection listens, and their listeners. */
export class ChannelSet {
  readonly #channels = new Map<string, Channel>()

  get size(): number {
    return this.#channels.size
  }

  get names(): string[] {
    return [...this.#channels.keys()]
  }

  /** The names of the channels without a confirmed subscription. */
  get unconfirmed(): string[] {
    return [...this.#channels.values()].filter((one) => !one.confirmed).map(({ name }) => name)
  }

  get(name: string): Channel | undefined {
    return this.#channels.get(name)
  }

  add(name: string, isShardable: boolean, isOptional: boolean): Channel {
    const listeners: Channel['listeners'] = new LinkedList()
    const channel = { name, isShardable, isOptional, confirmed: false, listeners }
    this.#channels.set(name, channel)
    return channel
  }

  /** @returns false if the channel was removed before */
  remove(channel: Channel): boolean {
    return this.get(channel.name) === channel && this.#channels.delete(channel.name)
  }

  wake(name: string, message?: string): void {
    const channel = this.get(name)
    if (channel !== undefined) wakeListeners(channel, message)
  }

  wakeAll(): void {
    for (const name of this.names) this.wake(name)
  }

  /** Called when the server has confirmed the subscriptions. Wakes the listeners, because earlier messages were missed. */
  confirmed(channels: readonly Channel[]): void {
    for (const channel of channels) {
      channel.confirmed = true
      wakeListeners(channel)
    }
  }

  /**
   * Wakes the listeners of these channels, because messages may have been missed. Until a new confirmation, the channels
   * count as unconfirmed.
   */
  missed(which: (channel: Channel) => boolean): void {
    for (const channel of this.#channels.values()) {
      if (!which(channel)) continue
      channel.confirmed = false
      wakeListeners(channel)
    }
  }
}

function wakeListeners({ listeners }: Channel, message?: string): void {
  for (const { onWake } of [...listeners]) onWake(message)
}
