import { InvalidArgumentError } from '../../errors.ts'
import type { Clock } from '../../kit/clock.ts'
import type { KindVerbs } from '../../local/kind-verbs.ts'
import type { AcquireAnswer } from '../../servers/answers.ts'
import {
  type PermitAnswer,
  permitsOf,
  type RemotePool,
  type TooMany,
} from '../../servers/permit-pool.ts'
import type { Reply } from '../../servers/reply.ts'

/** Who waits asks again after so long at the latest, in milliseconds: so it is known that it still does. */
const ASK_AGAIN_MS = 1_000

/** One semaphore in one client. */
interface Semaphore {
  readonly name: string
  /** Those who want permits, in the order in which they are served. */
  readonly waiters: { readonly first: { readonly waitedMs: number } | undefined }
  readonly services: { readonly clock: Clock }
}

/** The verbs of one semaphore, whatever the number of permits. Of those who wait only the first asks. */
export class PermitVerbs {
  readonly verbs: KindVerbs
  readonly #semaphore: Semaphore
  /** Who was told since when it waits, and what. */
  #waiter: object | undefined
  #since = ''
  /** Whether this client may have a place among those who wait. */
  #hasPlace = false

  constructor(remote: RemotePool, semaphore: Semaphore) {
    this.#semaphore = semaphore
    const { waiters, services } = semaphore
    // Those who ask once have no place.
    const isLast = () => {
      const nobodyWaits = waiters.first === undefined
      if (nobodyWaits) this.#hasPlace = false
      return nobodyWaits
    }
    this.verbs = {
      acquire: ({ waits = false, isLast = true, ...attempt }, reply) => {
        const waiter = waits ? waiters.first : undefined
        const beganAt = services.clock.monotonic() - (waiter?.waitedMs ?? 0)
        const since = waiter !== undefined && waiter === this.#waiter ? this.#since : ''
        const heard = this.#heard(reply, attempt.owner, waiter, isLast)
        remote.acquire({ ...attempt, waits, isLast, beganAt, since }, heard)
      },
      // Each acquisition is for itself.
      reenter: (_, reply) => reply.answered({ kind: 'gone' }),
      release: (ending, reply) => remote.release(ending, isLast(), reply),
      abandon: (owner, untilMs, leaseMs) => remote.abandon(owner, untilMs, leaseMs, isLast),
      listensWith: this,
      // It is listened as long as anybody waits.
      listen: (onWake) => {
        const listening = remote.listen(onWake)
        return {
          get confirmed() {
            return listening.confirmed
          },
          stop: () => {
            listening.stop()
            // Its place is kept for whoever is about to ask: who may have given up.
            if (this.#hasPlace && isLast()) remote.leave(isLast)
          },
        }
      },
    }
  }

  #heard(
    reply: Reply<AcquireAnswer>,
    owner: string,
    waiter: object | undefined,
    isLast: boolean,
  ): Reply<PermitAnswer> {
    return {
      answered: (answer) => {
        const isHeld = answer.kind === 'held'
        if (waiter !== undefined) {
          this.#hasPlace = isHeld || !isLast
          this.#waiter = isHeld ? waiter : undefined
          if (isHeld) this.#since = answer.since ?? ''
        }
        if (answer.kind === 'tooMany') {
          reply.answered({ kind: 'held', ttlMs: -1, never: this.#never(owner, answer) })
          return
        }
        const isLong = isHeld && (answer.ttlMs < 0 || answer.ttlMs > ASK_AGAIN_MS)
        reply.answered(isLong ? { ...answer, ttlMs: ASK_AGAIN_MS } : answer)
      },
      failed: (failure) => reply.failed(failure),
    }
  }

  #never(owner: string, { available, taken }: TooMany): Error {
    const { name } = this.#semaphore
    return new InvalidArgumentError(
      `Semaphore "${name}": ${permitsOf(owner)} permits were asked for, and there are ` +
        `${available + taken} in all (${available} available, ${taken} taken). Ask for fewer, or set more.`,
      name,
    )
  }
}
