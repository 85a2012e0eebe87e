import { setTimeout as pause } from 'node:timers/promises'
import type { ReleaseListener } from '../waiting/release-listener.ts'
import type { Waiter } from '../waiting/waiter.ts'
import type { AcquireRequests } from './acquire-requests.ts'
import type { CurrentHold } from './current-hold.ts'
import { type HandOverBudget, RESERVE } from './hand-over-budget.ts'
import type { Host } from './host.ts'

/** Who does not wait asks again so often where the votes were split: maybe nobody has the lock. */
const MOST_SPLITS = 3

/** How a waiter whose turn has come among those of its client gets the lock: it asks when it may. */
export class Acquire {
  readonly #host: Host
  readonly #acquireRequests: AcquireRequests
  readonly #current: CurrentHold
  readonly #handOverBudget: HandOverBudget
  readonly #releases: ReleaseListener

  constructor(
    host: Host,
    acquireRequests: AcquireRequests,
    current: CurrentHold,
    budget: HandOverBudget,
    releases: ReleaseListener,
  ) {
    this.#host = host
    this.#acquireRequests = acquireRequests
    this.#current = current
    this.#handOverBudget = budget
    this.#releases = releases
  }

  /** Asks and waits until the waiter has the lock or is settled. */
  async run(waiter: Waiter): Promise<void> {
    waiter.contending = true
    const { request, wakeEvent } = waiter
    let splits = 0
    while (!waiter.settled) {
      wakeEvent.reset()
      const { hold: own } = this.#current
      if (own?.owner === request.owner) return this.#host.reenter(own, waiter)
      if (this.#host.isOccupied() && !waiter.asksOnce) {
        await wakeEvent.wait()
        continue
      }
      const awayMs = waiter.asksOnce ? 0 : this.#handOverBudget.awayMs
      if (awayMs > 0) {
        await wakeEvent.wait(awayMs)
        continue
      }
      if (!waiter.asksOnce && this.#handOverBudget.isPolite) {
        await this.#handOverBudget.stepBack()
        if (waiter.settled || this.#host.isOccupied()) continue
      }
      if (waiter.retryBudget.isUsedUp) {
        waiter.reject(waiter.retryBudget.error('not acquired'))
        break
      }
      const { grant, sentAt, pauseMs } = await this.#acquireRequests.acquire(
        waiter,
        this.#host.isWantedByOthers() ? RESERVE : 0,
      )
      if (grant?.kind === 'granted') {
        const hold = this.#current.granted(waiter, grant, sentAt)
        if (hold !== null) return this.#host.begin(waiter, hold)
      } else if (grant !== null && waiter.asksOnce) {
        if (grant.kind === 'held' && grant.split?.pauseMs !== undefined && splits < MOST_SPLITS) {
          splits += 1
          await pause(grant.split.pauseMs)
        } else if (this.#current.hold?.owner !== request.owner) waiter.resolve(null)
      } else if (!waiter.settled) {
        if (grant !== null) this.#host.announce(waiter)
        if (grant?.kind === 'held' && grant.split?.pauseMs !== undefined) {
          // Who has a majority may pass the lock around in its client while nobody seems to wait.
          this.#releases.listen(grant.ttlMs)
          await pause(grant.split.pauseMs)
          continue
        }
        await wakeEvent.wait(grant?.kind === 'held' ? this.#releases.listen(grant.ttlMs) : pauseMs)
      }
    }
    // While the lock is on its way to it, it has use for its name.
    if (!waiter.asking) this.#acquireRequests.abandonName(waiter)
  }
}
