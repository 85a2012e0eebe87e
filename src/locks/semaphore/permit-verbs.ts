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
import type { Attempt } from '../../servers/requests.ts'
import { PermitSights, type Watching } from './permit-sights.ts'

/** Who waits asks again after so long at the latest, in milliseconds: so it is known that it still does. */
const ASK_AGAIN_MS = 1_000

/** One semaphore in one client. */
interface Semaphore {
  readonly name: string
  readonly rawName: string
  /** Those who want permits, in the order in which they are served. */
  readonly waiters: { readonly first: { readonly waitedMs: number } | undefined }
  readonly services: { readonly clock: Clock }
}

/** The verbs of one semaphore, whatever the number of permits. Of those who wait only the first asks. */
export class PermitVerbs {
  readonly verbs: KindVerbs
  /** What refused attempts have seen. */
  readonly sights: PermitSights
  readonly #remote: RemotePool
  readonly #semaphore: Semaphore
  readonly #client: Watching
  /** Who was told since when it waits, and what. */
  #waiter: object | undefined
  #since = ''
  /** Whether this client may have a place among those who wait. */
  #hasPlace = false

  constructor(remote: RemotePool, semaphore: Semaphore, client: Watching) {
    this.#remote = remote
    this.#semaphore = semaphore
    this.#client = client
    this.sights = new PermitSights(semaphore, client)
    const { waiters } = semaphore
    // Those who ask once have no place.
    const isLast = () => {
      const nobodyWaits = waiters.first === undefined
      if (nobodyWaits) this.#hasPlace = false
      return nobodyWaits
    }
    this.verbs = {
      acquire: (attempt, reply) => this.#acquire(attempt, undefined, reply),
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

  /**
   * The same verbs for acquisitions that set how many permits there are, if nobody has.
   *
   * @param limit that number; undefined if it is not known
   */
  with(limit: number | undefined): KindVerbs {
    if (limit === undefined) return this.verbs
    return {
      ...this.verbs,
      acquire: (attempt, reply) => this.#acquire(attempt, limit, reply),
    }
  }

  #acquire(
    { waits = false, isLast = true, ...attempt }: Attempt,
    limit: number | undefined,
    reply: Reply<AcquireAnswer>,
  ): void {
    const { waiters, services } = this.#semaphore
    const waiter = waits ? waiters.first : undefined
    const beganAt = services.clock.monotonic() - (waiter?.waitedMs ?? 0)
    const since = waiter !== undefined && waiter === this.#waiter ? this.#since : ''
    const heard = this.#heard(reply, attempt.owner, waiter, isLast, limit)
    this.#remote.acquire({ ...attempt, waits, isLast, beganAt, since, limit }, heard)
  }

  #heard(
    reply: Reply<AcquireAnswer>,
    owner: string,
    waiter: object | undefined,
    isLast: boolean,
    limit: number | undefined,
  ): Reply<PermitAnswer> {
    return {
      answered: (answer) => {
        this.#saw(answer, waiter !== undefined, limit)
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

  #saw(answer: PermitAnswer, waits: boolean, limit: number | undefined): void {
    if (answer.kind === 'granted') this.sights.granted()
    else if (answer.kind === 'held') this.sights.refused(answer.seen, waits)
    const inRedis = inAllOf(answer)
    if (limit === undefined || inRedis === undefined || inRedis === limit) return
    this.#client.warnings.differs(this.#semaphore, inRedis, limit)
  }

  #never(owner: string, { available, taken }: TooMany): Error {
    const { name } = this.#semaphore
    return new InvalidArgumentError(
      `Semaphore "${name}": ${permitsOf(owner)} permits were requested, but there are ` +
        `only ${available + taken} in all (${available} available, ${taken} taken). Request fewer, or set more.`,
      name,
    )
  }
}

/** How many permits there are in all, as far as an answer tells. */
function inAllOf(answer: PermitAnswer): number | undefined {
  if (answer.kind === 'granted') return answer.inAll
  if (answer.kind === 'tooMany') return answer.available + answer.taken
  const { isSet, available, taken } = answer.seen
  return isSet && taken !== null ? available + taken : undefined
}
