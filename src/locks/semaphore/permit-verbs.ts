import { InvalidArgumentError } from '../../errors.ts'
import type { Clock } from '../../kit/clock.ts'
import type { KindVerbs } from '../../local/kind-verbs.ts'
import type { AcquireAnswer } from '../../servers/answers.ts'
import type { PermitAnswer, PermitAttempt, RemotePool, TooMany } from '../../servers/permit-pool.ts'
import type { Reply } from '../../servers/reply.ts'
import type { Attempt } from '../../servers/requests.ts'
import { PermitSights, type Watching } from './permit-sights.ts'

/**
 * A waiter sends its request again after at most this time, in milliseconds. So the server knows
 * that the waiter still waits.
 */
const ASK_AGAIN_MS = 1_000

interface WaitedSemaphore {
  readonly name: string
  readonly rawName: string
  /** The waiters for permits in FIFO order. */
  readonly waiters: { readonly first: { readonly waitedMs: number } | undefined }
  readonly services: { readonly clock: Clock }
}

type WantedPermits = Pick<PermitAttempt, 'permits' | 'limit'>

/**
 * The requests of one semaphore in one client, for any number of permits. Only the first of the
 * waiting calls sends requests.
 */
export class PermitVerbs {
  readonly #verbs: Omit<KindVerbs, 'acquire'>
  /** The state of the semaphore in the last refusal. */
  readonly sights: PermitSights
  readonly #remote: RemotePool
  readonly #semaphore: WaitedSemaphore
  readonly #client: Watching
  /**
   * The waiter that last got the answer `held`. Undefined after another answer to a waiter.
   * `#waitId` is the id of its wait on the server.
   */
  #waiter: object | undefined
  #waitId = ''
  /** True if this client may have a place in the server's list of waiters. */
  #hasPlace = false

  constructor(remote: RemotePool, semaphore: WaitedSemaphore, client: Watching) {
    this.#remote = remote
    this.#semaphore = semaphore
    this.#client = client
    this.sights = new PermitSights(semaphore, client)
    const { waiters } = semaphore
    // True if no call of this client waits, so that the server can remove the client's place. If
    // true, the function also records that the client has no place. A call that does not wait is
    // never `waiters.first`.
    const isLast = () => {
      const nobodyWaits = waiters.first === undefined
      if (nobodyWaits) this.#hasPlace = false
      return nobodyWaits
    }
    this.#verbs = {
      // Each acquisition of permits is separate, so an owner never re-enters.
      reenter: (_, reply) => reply.answered({ kind: 'gone' }),
      lower: (ending, reply) => remote.giveBack(ending, isLast(), reply),
      abandon: (owner, untilMs, leaseMs) => remote.abandon(owner, untilMs, leaseMs, isLast),
      listensWith: this,
      // The client listens while any call waits. When the client stops listening, it may no longer
      // need its place.
      listen: (onHint) => {
        const listening = remote.listen(onHint)
        return {
          get confirmed() {
            return listening.confirmed
          },
          stop: () => {
            listening.stop()
            // After a grant, the server keeps the place for the next waiter of this client. If the
            // next waiter has given up, the place must be removed.
            if (this.#hasPlace && isLast()) remote.stopWaiting(isLast)
          },
        }
      },
    }
  }

  /**
   * Returns the requests for acquisitions of this number of permits.
   *
   * @param limit the number of permits to set if no client has set a number; undefined if
   *   acquisitions set no number
   */
  with(permits: number, limit: number | undefined): KindVerbs {
    const wanted = { permits, limit }
    return {
      ...this.#verbs,
      acquire: (attempt, reply) => this.#acquire(attempt, wanted, reply),
    }
  }

  #acquire(
    { waits = false, isLast = true, ...attempt }: Attempt,
    wanted: WantedPermits,
    reply: Reply<AcquireAnswer>,
  ): void {
    const { waiters, services } = this.#semaphore
    const waiter = waits ? waiters.first : undefined
    const beganAt = services.clock.monotonic() - (waiter?.waitedMs ?? 0)
    const waitId = waiter !== undefined && waiter === this.#waiter ? this.#waitId : ''
    const handler = this.#handling(reply, waiter, isLast, wanted)
    this.#remote.acquire({ ...attempt, ...wanted, waits, isLast, beganAt, waitId }, handler)
  }

  #handling(
    reply: Reply<AcquireAnswer>,
    waiter: object | undefined,
    isLast: boolean,
    { permits, limit }: WantedPermits,
  ): Reply<PermitAnswer> {
    return {
      answered: (answer) => {
        this.#saw(answer, waiter !== undefined, limit)
        const isHeld = answer.kind === 'held'
        if (waiter !== undefined) {
          this.#hasPlace = isHeld || !isLast
          this.#waiter = isHeld ? waiter : undefined
          if (isHeld) this.#waitId = answer.waitId ?? ''
        }
        if (answer.kind === 'tooMany') {
          reply.answered({ kind: 'held', ttlMs: Infinity, never: this.#never(permits, answer) })
          return
        }
        const isLong = isHeld && answer.ttlMs > ASK_AGAIN_MS
        reply.answered(isLong ? { ...answer, ttlMs: ASK_AGAIN_MS } : answer)
      },
      failed: (failure) => reply.failed(failure),
    }
  }

  #saw(answer: PermitAnswer, waits: boolean, limit: number | undefined): void {
    if (answer.kind === 'granted') this.sights.clear()
    else if (answer.kind === 'held') this.sights.refused(answer.seen, waits)
    const inAll = inAllOf(answer)
    if (limit === undefined || inAll === undefined || inAll === limit) return
    this.#client.warnings.differs(this.#semaphore, inAll, limit)
  }

  #never(permits: number, { available, taken }: TooMany): Error {
    const { name } = this.#semaphore
    return new InvalidArgumentError(
      `Semaphore "${name}": ${permits} permits were requested, but there are ` +
        `only ${available + taken} in all (${available} available, ${taken} taken). Request fewer, or set more permits.`,
      name,
    )
  }
}

/** Returns the total number of permits; undefined if the answer does not contain it. */
function inAllOf(answer: PermitAnswer): number | undefined {
  if (answer.kind === 'granted') return answer.inAll
  if (answer.kind === 'tooMany') return answer.available + answer.taken
  const { isSet, available, taken } = answer.seen
  return isSet && taken !== null ? available + taken : undefined
}
