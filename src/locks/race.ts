import { setTimeout as pause } from 'node:timers/promises'
import type { Conversation } from './conversation.ts'
import type { Host } from './host.ts'
import type { ReleaseListener } from './release-listener.ts'
import type { Tenancy } from './tenancy.ts'
import { RESERVE, type Turn } from './turn.ts'
import type { Waiter } from './waiter.ts'

/** Who does not wait asks again so often where the votes were split: maybe nobody has the lock. */
const MOST_SPLITS = 3

/** How a waiter whose turn has come among those of its client gets the lock: it asks when it may. */
export class Race {
  readonly #host: Host
  readonly #talk: Conversation
  readonly #tenancy: Tenancy
  readonly #turn: Turn
  readonly #releases: ReleaseListener

  constructor(
    host: Host,
    talk: Conversation,
    tenancy: Tenancy,
    turn: Turn,
    releases: ReleaseListener,
  ) {
    this.#host = host
    this.#talk = talk
    this.#tenancy = tenancy
    this.#turn = turn
    this.#releases = releases
  }

  /** Asks and waits until the waiter has the lock or is settled. */
  async run(waiter: Waiter): Promise<void> {
    waiter.contending = true
    const { request, bell } = waiter
    let splits = 0
    while (!waiter.settled) {
      bell.still()
      const { hold: own } = this.#tenancy
      if (own?.owner === request.owner) return this.#host.reenter(own, waiter)
      if (this.#host.isOccupied() && !waiter.asksOnce) {
        await bell.wait()
        continue
      }
      const awayMs = waiter.asksOnce ? 0 : this.#turn.awayMs
      if (awayMs > 0) {
        await bell.wait(awayMs)
        continue
      }
      if (!waiter.asksOnce && this.#turn.isPolite) {
        await this.#turn.stepBack()
        if (waiter.settled || this.#host.isOccupied()) continue
      }
      if (waiter.patience.over) {
        waiter.reject(waiter.patience.error('not acquired'))
        break
      }
      const { grant, sentAt, pauseMs } = await this.#talk.acquire(
        waiter,
        this.#host.isWantedByOthers() ? RESERVE : 0,
      )
      if (grant?.kind === 'granted') {
        const hold = this.#tenancy.granted(waiter, grant, sentAt)
        if (hold !== null) return this.#host.begin(waiter, hold)
      } else if (grant !== null && waiter.asksOnce) {
        if (grant.kind === 'held' && grant.split?.pauseMs !== undefined && splits < MOST_SPLITS) {
          splits += 1
          await pause(grant.split.pauseMs)
        } else if (this.#tenancy.hold?.owner !== request.owner) waiter.resolve(null)
      } else if (!waiter.settled) {
        if (grant !== null) this.#host.announce(waiter)
        if (grant?.kind === 'held' && grant.split?.pauseMs !== undefined) {
          // Who has a majority may pass the lock around in its client while nobody seems to wait.
          this.#releases.listen(grant.ttlMs)
          await pause(grant.split.pauseMs)
          continue
        }
        await bell.wait(grant?.kind === 'held' ? this.#releases.listen(grant.ttlMs) : pauseMs)
      }
    }
    // While the lock is on its way to it, it has use for its name.
    if (!waiter.asking) this.#talk.settleUnheard(waiter)
  }
}
