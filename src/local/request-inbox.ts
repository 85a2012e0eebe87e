import type { Clock, Timer } from '../kit/clock.ts'
import { outsideContexts } from '../kit/outside-contexts.ts'
import { within } from '../kit/within.ts'
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
  /** Called when it may be confirmed. */
  #waiting: (() => void)[] = []
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
        else for (const look of this.#waiting.splice(0)) look()
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
      const woken = new Promise<void>((resolve) => this.#waiting.push(resolve))
      await within(leftMs, woken, this.#clock)
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
    for (const look of this.#waiting.splice(0)) look()
  }

  #checkLater(): void {
    this.#check = this.#clock
      .after(CHECK_MS, () => (this.#host.isNeeded() ? this.#checkLater() : this.#stop()))
      .unref()
  }
}
