import type { Clock, Timer } from '../kit/clock.ts'
import { outsideContexts } from '../kit/outside-contexts.ts'
import { WakeEvent } from '../kit/wake-event.ts'
import type { RequestChannel } from '../servers/request-channel.ts'
import type { Subscription } from '../servers/subscription.ts'

/** How often the client checks if it still needs the inbox, in milliseconds. */
const CHECK_MS = 5_000

interface InboxEvents {
  isNeeded(): boolean
  received(message: string): void
  /** Called when the inbox may have missed messages. */
  missed(): void
}

/**
 * Receives the messages that other clients send to this client. The subscription ends when a check
 * finds that the client needs no messages.
 */
export class RequestInbox {
  readonly #channel: RequestChannel
  readonly #clientId: string
  readonly #clock: Clock
  readonly #host: InboxEvents
  #subscription: Subscription | undefined
  #check: Timer | undefined
  /**
   * One event for each caller that waits for a confirmed subscription. The inbox sets the events
   * when the subscription may be confirmed or has ended.
   */
  readonly #waiting = new Set<WakeEvent>()
  isClosed = false
  #listeningSince = Infinity

  constructor(channel: RequestChannel, clientId: string, clock: Clock, host: InboxEvents) {
    this.#channel = channel
    this.#clientId = clientId
    this.#clock = clock
    this.#host = host
  }

  open(): void {
    if (this.#subscription !== undefined || this.isClosed) return
    outsideContexts(() => {
      this.#subscription = this.#channel.listen(this.#clientId, (message) => {
        if (message !== undefined) this.#host.received(message)
        else this.#mayHaveMissed()
      })
      this.#checkLater()
    })
  }

  /**
   * Since when the inbox has received each message, on the monotonic clock. Infinity if the subscription is not
   * confirmed.
   */
  get listeningSince(): number {
    return this.#subscription?.confirmed ? this.#listeningSince : Infinity
  }

  /**
   * Opens the inbox, and waits for its subscription.
   *
   * @returns true if the subscription is confirmed, so that later messages arrive; false after `ms`
   *   milliseconds, or if the inbox was closed
   */
  async isConfirmed(ms: number): Promise<boolean> {
    this.open()
    const endsAt = this.#clock.monotonic() + ms
    while (this.#subscription?.confirmed === false) {
      const leftMs = endsAt - this.#clock.monotonic()
      if (leftMs <= 0) return false
      const wakeEvent = new WakeEvent(this.#clock)
      this.#waiting.add(wakeEvent)
      await wakeEvent.wait(leftMs)
      this.#waiting.delete(wakeEvent)
    }
    return this.#subscription?.confirmed === true
  }

  stopListening(): void {
    this.isClosed = true
    this.#stop()
  }

  #stop(): void {
    this.#clock.clear(this.#check)
    this.#subscription?.stop()
    this.#subscription = undefined
    this.#listeningSince = Infinity
    this.#wakeAll()
  }

  #mayHaveMissed(): void {
    this.#listeningSince = this.#subscription?.confirmed ? this.#clock.monotonic() : Infinity
    this.#wakeAll()
    this.#host.missed()
  }

  #wakeAll(): void {
    for (const wakeEvent of this.#waiting) wakeEvent.set()
  }

  #checkLater(): void {
    this.#check = this.#clock
      .after(CHECK_MS, () => (this.#host.isNeeded() ? this.#checkLater() : this.#stop()))
      .unref()
  }
}
