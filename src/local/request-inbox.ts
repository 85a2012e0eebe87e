import type { Clock, Timer } from '../kit/clock.ts'
import { outsideContexts } from '../kit/outside-contexts.ts'
import { WakeEvent } from '../kit/wake-event.ts'
import type { RequestChannel } from '../servers/request-channel.ts'
import type { Subscription } from '../servers/subscription.ts'

/** How often the inbox checks if it is still needed, in milliseconds. */
const CHECK_MS = 5_000

interface Host {
  isNeeded(): boolean
  received(message: string): void
}

/**
 * Receives messages to one client. The subscription exists only while the client needs messages.
 */
export class RequestInbox {
  readonly #channel: RequestChannel
  readonly #clientId: string
  readonly #clock: Clock
  readonly #host: Host
  #subscription: Subscription | undefined
  #check: Timer | undefined
  /**
   * The callers that wait until the subscription is confirmed. Each event is set when that may have
   * happened.
   */
  readonly #waiting = new Set<WakeEvent>()
  isClosed = false

  constructor(channel: RequestChannel, clientId: string, clock: Clock, host: Host) {
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
        else this.#wakeAll()
      })
      this.#checkLater()
    })
  }

  /**
   * @returns true if the subscription is confirmed, so that no message is missed; false if that
   *   takes longer than `ms`
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

  close(): void {
    this.isClosed = true
    this.#stop()
  }

  #stop(): void {
    this.#clock.clear(this.#check)
    this.#subscription?.stop()
    this.#subscription = undefined
    this.#wakeAll()
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
