import { CallFailure } from '../call-failure.ts'
import type { LatchFacts } from '../facts.ts'
import { LATCH, type LatchState, type RemoteLatch } from '../latch-server.ts'
import type { OnceRequest } from '../once-request.ts'
import type { Subscription } from '../subscription.ts'
import { requestKey } from './calls/keys.ts'
import type { KindScripts, RedisKind } from './calls/redis-kind.ts'
import type { ServerClock } from './calls/server-clock.ts'
import { latchKeys } from './key-names/latch.ts'
import * as scripts from './scripts/latch.generated.ts'
import type { Binding } from './scripts/script.ts'

/** The keys and the channel of a latch, and the key for the result of one request. */
interface LatchNames extends ReturnType<typeof latchKeys> {
  readonly request: string
}

/** The arguments that are computed when the request is sent, in µs of server time. */
interface LatchTimes {
  readonly askedUs: number
  readonly untilUs: number
}

/**
 * The answer if the round of the call is over. `setUs` is the server time in µs at which the present
 * round began; 0 if no count is set, or if this time is unknown.
 */
interface RoundOver {
  readonly kind: 'over'
  readonly setUs: number
  readonly serverTimeUs: number
}

/** The answer after the deadline of the request, if the server has no result of it. */
interface Forgotten {
  readonly kind: 'forgotten'
  readonly serverTimeUs: number
}

class RedisLatch implements RemoteLatch {
  readonly #server: KindScripts
  readonly #rawName: string
  readonly #keys: ReturnType<typeof latchKeys>
  /** The last deadline that the client sent with each request, in µs of the server's time. */
  readonly #untilUs = new WeakMap<OnceRequest, number>()

  constructor(server: KindScripts, rawName: string) {
    this.#server = server
    this.#rawName = rawName
    this.#keys = latchKeys(rawName, server.runner.clustered)
  }

  async trySetCount(count: number, request: OnceRequest, callMs: number): Promise<boolean> {
    const given = ({ untilUs }: LatchTimes) => ({ count, untilUs })
    const answer = await this.#once(scripts.setCount, given, request, callMs)
    return answer.kind === 'done' && answer.isSet
  }

  async countDown(
    request: OnceRequest,
    callMs: number,
    round?: number,
  ): Promise<LatchState | null> {
    const given = (times: LatchTimes) => ({ ...times, ownRound: round })
    const answer = await this.#once(scripts.countDown, given, request, callMs, round)
    return answer.kind === 'over' ? null : { count: answer.left, round: answer.round }
  }

  async delete(request: OnceRequest, callMs: number, round?: number): Promise<boolean> {
    const given = (times: LatchTimes) => ({ ...times, ownRound: round })
    const answer = await this.#once(scripts.deleteCount, given, request, callMs, round)
    return answer.kind === 'done' && answer.isDeleted
  }

  async read(callMs: number): Promise<LatchState> {
    let sentAt = 0
    const given = () => {
      sentAt = performance.now()
      return {}
    }
    // The script deletes the key `request`, because a replica refuses a script that writes. The
    // key never exists, because no request has an empty id.
    const names = this.#namesWith('')
    const answer = await this.#server.runner.request(scripts.look, names, given, callMs)
    const { count, round, serverTimeUs } = answer
    const clock = this.#clock
    clock.update(serverTimeUs, sentAt)
    // If the round is in the future, the server's clock was set back. Then the time of the round
    // proves nothing.
    if (count === 0 || round === null || round > serverTimeUs) return { count, round }
    return { count, round, setAt: clock.earliestAt(round) }
  }

  async inspect(callMs: number): Promise<LatchFacts> {
    const answer = await this.#server.runner.request(scripts.inspect, this.#keys, {}, callMs)
    const { count, listeners, round } = answer
    return { count, waiters: listeners, round }
  }

  listen(onWake: () => void): Subscription {
    return this.#server.listen(this.#keys, () => onWake())
  }

  /** The estimated clock of the server that has the latch. */
  get #clock(): ServerClock {
    return this.#server.runner.clockFor(this.#rawName)
  }

  /** Returns the names with the key for the result of this request. */
  #namesWith(id: string): LatchNames {
    return { ...this.#keys, request: requestKey(this.#rawName, id) }
  }

  /**
   * Sends a request that counts once. Sends the request again if the estimate of the server's clock
   * may have been wrong.
   *
   * @param round the only round in which the request has an effect; undefined for the round at the
   * time of the call
   */
  async #once<Given, A extends { readonly kind: string }>(
    binding: Binding<LatchNames, Given, A | RoundOver | Forgotten>,
    givenAt: (times: LatchTimes) => Given,
    request: OnceRequest,
    callMs: number,
    round?: number,
  ): Promise<A | RoundOver> {
    const { runner } = this.#server
    const names = this.#namesWith(request.id)
    const endsAt = performance.now() + callMs
    let [askedUs, sentAt, isAgain] = [0, 0, false]
    const given = () => {
      sentAt = performance.now()
      askedUs = Math.max(askedUs, this.#clock.timeUs(request.calledAt))
      // A request that may have run keeps its deadline. Otherwise a later copy could count again,
      // after the server has forgotten the first result.
      const lastUs = request.mayHaveRun ? this.#untilUs.get(request) : undefined
      const untilUs = lastUs ?? this.#clock.inUs(request.keptMs)
      this.#untilUs.set(request, untilUs)
      return givenAt({ askedUs, untilUs })
    }
    for (;;) {
      const leftMs = Math.max(1, endsAt - performance.now())
      const answer = await runner.request(binding, names, given, leftMs)
      if (!isForgotten(answer) && !isOver(answer)) return answer
      this.#clock.update(answer.serverTimeUs, sentAt)
      if (isForgotten(answer)) {
        if (request.mayHaveRun) throw new CallFailure('unknown', TOO_LATE, undefined, true)
        if (performance.now() >= endsAt)
          throw new CallFailure('unsent', 'the request came too late')
      } else {
        const isTooLate = this.#clock.earliestAt(answer.setUs) > request.calledAt
        if (round !== undefined || isTooLate) return answer
        // This answer does not prove that the round began after the call. After a second such
        // answer, the call counts in the present round.
        if (isAgain) askedUs = answer.setUs
        isAgain = true
      }
    }
  }
}

/** The message of the failure if the server no longer knows whether the request has run. */
const TOO_LATE =
  'Redis answers again, but no longer knows the request, and it is too late to repeat the request'

function isForgotten(answer: { readonly kind: string }): answer is Forgotten {
  return answer.kind === 'forgotten'
}

function isOver(answer: { readonly kind: string }): answer is RoundOver {
  return answer.kind === 'over'
}

export const redisLatch: RedisKind = {
  kind: LATCH,
  type: 'string',
  open: (server) => (rawName: string) => new RedisLatch(server, rawName),
}
