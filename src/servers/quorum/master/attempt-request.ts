import type { CallFailure } from '../../call-failure.ts'
import type { LockKeys } from '../../redis/calls/keys.ts'
import type { Reply } from '../../reply.ts'

export interface AttemptServer {
  readonly everUp: boolean
  readonly lateAtMostMs: number
  readonly whyDown: CallFailure | undefined
  onUp(onUp: () => void): () => void
}

/** The requests to one master with the same owner id. All times are on `performance.now()`. */
export class OwnerAttempts {
  /**
   * The last time at which a request without an answer may acquire the lock; 0 if there is none.
   */
  doubtUntilMs = 0
  /** True if a request of the owner id was granted, or has an unknown outcome. */
  mayHaveIt = false
  /** The number of acquisitions under way. */
  pending = 0
  /**
   * The number of the last acquisition that was sent; 0 if none. One counter numbers the
   * acquisitions of all owner ids.
   */
  sent = 0
  /** The number of releases and hand-overs under way that end the hold of the owner id. */
  endings = 0
  /** When the last answered release or hand-over was sent; -1 means that there is none. */
  endedAtMs = -1
  /** The keys of the lock to release. Set when the owner id is abandoned, or its hold has ended. */
  abandoned: LockKeys | undefined
  /** Earliest time of the background release; 0 means at once. */
  fromMs = 0
  #waiting: (() => void)[] | undefined

  /** Calls the function when no acquisition is under way. */
  whenAnswered(onAnswered: () => void): void {
    if (this.pending === 0) onAnswered()
    else {
      this.#waiting ??= []
      this.#waiting.push(onAnswered)
    }
  }

  reportAnswered(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting !== undefined) for (const onAnswered of waiting) onAnswered()
  }
}

interface AttemptEvents {
  readonly server: AttemptServer
  /**
   * Called when an acquisition is sent. Returns the next number. One counter numbers the
   * acquisitions of all owner ids.
   */
  acquisitionSent(): number
  /** Called when the server has answered an acquisition. */
  acquisitionAnswered(): void
  /** Called when an acquisition has an answer or has failed. */
  acquisitionDone(owner: string, attempts: OwnerAttempts): void
}

/** One acquisition under way. Records its outcome, and then passes the outcome on. */
export class AttemptRequest<A extends { readonly kind: string }> implements Reply<A> {
  readonly #host: AttemptEvents
  readonly #owner: string
  readonly #attempts: OwnerAttempts
  readonly #callMs: number
  readonly #reply: Reply<A>
  readonly #requestedAt = performance.now()
  readonly #wasUp: boolean
  readonly #lateMs: number
  #isSent = false

  constructor(
    host: AttemptEvents,
    owner: string,
    attempts: OwnerAttempts,
    callMs: number,
    reply: Reply<A>,
  ) {
    this.#host = host
    this.#owner = owner
    this.#attempts = attempts
    this.#callMs = callMs
    this.#reply = reply
    this.#wasUp = host.server.everUp
    this.#lateMs = host.server.lateAtMostMs
    attempts.pending += 1
  }

  /**
   * Called each time the acquisition is sent. If never called, the acquisition counts as sent when
   * it is answered.
   */
  sent(): void {
    this.#isSent = true
    this.#attempts.sent = this.#host.acquisitionSent()
  }

  answered(answer: A): void {
    if (!this.#isSent) this.sent()
    this.#host.acquisitionAnswered()
    this.#done(answer.kind === 'granted')
    this.#reply.answered(answer)
  }

  failed(failure: CallFailure): void {
    const isUnknown = failure.kind === 'unknown'
    if (isUnknown) {
      // A server without a connection gets the request later than `#requestedAt`. `lateAtMostMs` may
      // have grown since the request was made.
      const latestMs = this.#wasUp ? this.#requestedAt : performance.now()
      const untilMs =
        latestMs + this.#callMs + Math.max(this.#lateMs, this.#host.server.lateAtMostMs)
      this.#attempts.doubtUntilMs = Math.max(this.#attempts.doubtUntilMs, untilMs)
    }
    this.#done(isUnknown)
    this.#reply.failed(failure)
  }

  #done(mayHaveIt: boolean): void {
    this.#attempts.mayHaveIt ||= mayHaveIt
    this.#attempts.pending -= 1
    this.#host.acquisitionDone(this.#owner, this.#attempts)
  }
}
