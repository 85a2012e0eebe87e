import type { Clock } from '../../kit/clock.ts'
import type { HoldKind } from '../../lease/hold-kind.ts'
import { HandOverBudget } from '../../local/hand-over-budget.ts'
import type { KindVerbs } from '../../local/kind-verbs.ts'
import type { AcquireAnswer } from '../../servers/answers.ts'
import type { PermitAnswer, PermitAttempt, RemotePool } from '../../servers/permit-pool.ts'
import type { Reply } from '../../servers/reply.ts'
import type { Attempt } from '../../servers/requests.ts'
import { ClientPlace, type SentAttempt } from './client-place.ts'
import { inAllOf, soon, tooManyError } from './permit-answers.ts'
import { PermitSights, type Watching } from './permit-sights.ts'

interface PermitCall {
  readonly request: { readonly kind: HoldKind }
  readonly waitedMs: number
  sendWith?(sender: Pick<KindVerbs, 'acquire'>, callMs: number): void
}

interface WaitedSemaphore {
  readonly name: string
  readonly rawName: string
  /** The waiters for permits in FIFO order. */
  readonly waiters: {
    readonly first: PermitCall | undefined
    readonly second: PermitCall | undefined
  }
  readonly services: { readonly clock: Clock }
}

type WantedPermits = Pick<PermitAttempt, 'permits' | 'limit'>

/** Sends a release and the attempt of a waiter in one request. */
export type SendTogether<T> = (attempt: PermitAttempt, acquired: Reply<PermitAnswer>) => T

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
  readonly #place: ClientPlace
  /** The permits that the last refused waiter wants. */
  #wanted: WantedPermits = { permits: 1 }
  /**
   * Limits the hand-overs in a row. After the last hand-over, a release makes the permits available
   * to all clients for a moment. Clients of Redisson have no place in the queue, so they can acquire
   * permits only in such a moment.
   */
  readonly #handOverBudget: HandOverBudget

  constructor(remote: RemotePool, semaphore: WaitedSemaphore, client: Watching) {
    const { clock } = semaphore.services
    this.#remote = remote
    this.#semaphore = semaphore
    this.#client = client
    this.#place = new ClientPlace(clock)
    this.#handOverBudget = new HandOverBudget(clock)
    this.sights = new PermitSights(semaphore, client)
    const isLast = () => this.#isLast()
    this.#verbs = {
      // Each acquisition of permits is separate, so an owner never re-enters.
      reenter: (_, reply) => reply.answered({ kind: 'gone' }),
      lower: (ending, reply) => {
        const send: SendTogether<true> = (attempt, acquired) => {
          remote.handOver?.(ending, attempt, reply, acquired)
          return true
        }
        const isSent = remote.handOver !== undefined && this.handOver(ending.callMs, send)
        if (!isSent) remote.giveBack(ending, isLast(), reply)
      },
      abandon: (owner, untilMs, leaseMs) => remote.abandon(owner, untilMs, leaseMs, isLast),
      listensWith: this,
      // The client listens while any call waits. When the client stops listening, it may no longer
      // need its place.
      listen: (onHint) => {
        const listening = remote.listen((hint) => {
          this.#place.hints += 1
          onHint(hint)
        })
        return {
          get confirmed() {
            return listening.confirmed
          },
          stop: () => {
            listening.stop()
            this.#leaveIfLast()
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

  /**
   * Called when a call of this client releases permits. If the first waiter may be next, sends the
   * release and the attempt of this waiter in one request.
   *
   * @param callMs the time limit of the request, in milliseconds
   * @returns the result of `send`; undefined if the caller must send the release alone
   */
  handOver<T>(callMs: number, send: SendTogether<T>): T | undefined {
    const isTurnOver = this.#handOverBudget.isUsedUp
    this.#handOverBudget.released(0)
    const { first } = this.#semaphore.waiters
    if (isTurnOver || first === undefined || !this.#place.isNext(first)) return undefined
    let sent: T | undefined
    const acquire = (attempt: Attempt, reply: Reply<AcquireAnswer>) => {
      sent = this.#send(first, attempt, this.#wanted, reply, send, true)
    }
    first.sendWith?.({ acquire }, callMs)
    return sent
  }

  #acquire(attempt: Attempt, wanted: WantedPermits, reply: Reply<AcquireAnswer>): void {
    const waiter = attempt.waits === true ? this.#semaphore.waiters.first : undefined
    const known = waiter && this.#place.answerTo(waiter)
    if (known === undefined) {
      const send: SendTogether<void> = (own, acquired) => this.#remote.acquire(own, acquired)
      this.#send(waiter, attempt, wanted, reply, send, false)
      return
    }
    this.#wanted = wanted
    this.sights.refused(known.seen, true)
    reply.answered(soon(known))
  }

  /** @param waiter the first waiter; undefined if the call does not wait */
  #send<T>(
    waiter: PermitCall | undefined,
    { waits = false, isLast = true, ...attempt }: Attempt,
    wanted: WantedPermits,
    reply: Reply<AcquireAnswer>,
    send: SendTogether<T>,
    isHandOver: boolean,
  ): T {
    const { second } = this.#semaphore.waiters
    const beganAt = this.#beganAt(waiter)
    const own: PermitAttempt = { ...attempt, ...wanted, waits, isLast, beganAt, waitId: '' }
    if (waiter === undefined) return send(own, this.#handling(reply, undefined, wanted))
    const isSameKind = second?.request.kind.name === waiter.request.kind.name
    const behind = !isLast && isSameKind ? second : undefined
    const permits = behind?.request.kind.permits ?? 1
    const { hints } = this.#place
    const handler = this.#handling(reply, { waiter, isLast, behind, isHandOver, hints }, wanted)
    const place = behind && { permits, beganAt: this.#beganAt(behind) }
    return send({ ...own, waitId: this.#place.waitIdOf(waiter), behind: place }, handler)
  }

  /** Returns when the waiter began to wait, in ms on the client's monotonic clock; now without a waiter. */
  #beganAt(waiter: PermitCall | undefined): number {
    return this.#semaphore.services.clock.monotonic() - (waiter?.waitedMs ?? 0)
  }

  #handling(
    reply: Reply<AcquireAnswer>,
    sent: SentAttempt | undefined,
    wanted: WantedPermits,
  ): Reply<PermitAnswer> {
    return {
      answered: (answer) => {
        this.#saw(answer, sent !== undefined, wanted.limit)
        const { first } = this.#semaphore.waiters
        if (sent !== undefined) this.#place.answered(sent, answer, sent.waiter === first)
        if (answer.kind === 'granted') this.#handOverBudget.acquired()
        if (answer.kind === 'tooMany') {
          const never = tooManyError(this.#semaphore.name, wanted.permits, answer)
          reply.answered({ kind: 'held', ttlMs: Infinity, never })
        } else {
          if (answer.kind === 'held' && sent !== undefined) this.#wanted = wanted
          reply.answered(soon(answer))
        }
        if (answer.kind === 'granted' && sent?.behind !== undefined) this.#leaveIfLast()
      },
      failed: (failure) => reply.failed(failure),
    }
  }

  /**
   * True if no call of this client waits, so that the server can remove the client's place. If true,
   * the method also records that the client has no place. A call that does not wait is never
   * `waiters.first`.
   */
  #isLast(): boolean {
    const nobodyWaits = this.#semaphore.waiters.first === undefined
    if (nobodyWaits) this.#place.isTaken = false
    return nobodyWaits
  }

  /**
   * After a grant, the server keeps the place for the next waiter of this client. If the next waiter
   * has given up, removes the place.
   */
  #leaveIfLast(): void {
    if (this.#place.isTaken && this.#isLast()) this.#remote.stopWaiting(() => this.#isLast())
  }

  #saw(answer: PermitAnswer, waits: boolean, limit: number | undefined): void {
    if (answer.kind === 'granted') this.sights.clear()
    else if (answer.kind === 'held') this.sights.refused(answer.seen, waits)
    const inAll = inAllOf(answer)
    if (limit === undefined || inAll === undefined || inAll === limit) return
    this.#client.warnings.differs(this.#semaphore, inAll, limit)
  }
}
