import type { Clock, Timer } from '../kit/clock.ts'
import { outsideContexts } from '../kit/outside-contexts.ts'
import { WakeEvent } from '../kit/wake-event.ts'
import type { RequestChannel } from '../servers/request-channel.ts'
import type { Subscription } from '../servers/subscription.ts'

/** How often the host is asked whether it is still needed, in milliseconds. */
const CHECK_MS = 5_000

/** Whose messages come there. */
interface Host {
  isNeeded(): boolean
  received(message: string): void
}

/** Where the messages to one client come, while the client needs them: no subscription before, and none for long after. */
export class RequestInbox {
  readonly #channel: RequestChannel
  readonly #clientId: string
  readonly #clock: Clock
  readonly #host: Host
  #subscription: Subscription | undefined
  #check: Timer | undefined
  /** Set when it may be confirmed. */
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

  /** @returns whether no message can be missed, after so many milliseconds at the latest */
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
