import type { LatchFacts } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import type { LatchState, RemoteLatch } from '../latch-server.ts'
import type { OnceRequest } from '../once-request.ts'
import type { Subscription } from '../subscription.ts'
import { type LockKeys, latchKeys } from './calls/keys.ts'
import type { ScriptServer } from './calls/script-runner.ts'
import * as scripts from './scripts/latch.generated.ts'
import type { Args, Script } from './scripts/script.ts'

/** What count-down latches need of their server. */
interface Server extends ScriptServer {
  listen(keys: Pick<LockKeys, 'channel'>, onWake: (message?: string) => void): Subscription
}

/** What scripts take that are told when the call was made. */
interface Terms {
  readonly askedUs: number
  readonly untilUs: number
  readonly publish: 'PUBLISH' | 'SPUBLISH'
}

/** A count was set after the call was made, by the server's time. */
interface Over {
  readonly kind: 'over'
  readonly setUs: number
  readonly serverTimeUs: number
}

/** It is later than the request was told, and nothing of it is remembered. */
interface Forgotten {
  readonly kind: 'forgotten'
  readonly serverTimeUs: number
}

/** Two readings of the server's clock may differ by this, beside what has passed in between, in milliseconds. */
const SLACK_MS = 10

/** One count-down latch on one server, or in a cluster. */
export class RedisLatch implements RemoteLatch {
  readonly #server: Server
  readonly #keys: ReturnType<typeof latchKeys>

  constructor(server: Server, rawName: string) {
    this.#server = server
    this.#keys = latchKeys(rawName, server.runner.clustered)
  }

  async trySetCount(count: number, request: OnceRequest, callMs: number): Promise<boolean> {
    const args = (terms: Terms) => scripts.setCountArgs({ count, ...terms }, terms, this.#keys)
    const { setCount: script, readSetCount: read } = scripts
    const answer = await this.#once({ script, args, read }, request, callMs)
    return answer.kind === 'done' && answer.isSet
  }

  async countDown(request: OnceRequest, callMs: number): Promise<number> {
    const args = (terms: Terms) => scripts.countDownArgs(terms, terms, this.#keys)
    const { countDown: script, readCountDown: read } = scripts
    const answer = await this.#once({ script, args, read }, request, callMs)
    return answer.kind === 'over' ? 0 : answer.left
  }

  async delete(request: OnceRequest, callMs: number): Promise<boolean> {
    const args = (terms: Terms) => scripts.deleteCountArgs(terms, terms, this.#keys)
    const { deleteCount: script, readDeleteCount: read } = scripts
    const answer = await this.#once({ script, args, read }, request, callMs)
    return answer.kind === 'done' && answer.isDeleted
  }

  look(callMs: number): Promise<LatchState> {
    return this.#server.runner.ask({
      script: scripts.look,
      keys: [...this.#keys.both, this.#keys.kind],
      args: () => [],
      read: scripts.readLook,
      callMs,
    })
  }

  async inspect(callMs: number): Promise<LatchFacts> {
    const { count, listeners } = await this.#server.runner.ask({
      script: scripts.inspect,
      keys: [...this.#keys.both.slice(0, 1), this.#keys.kind],
      args: (terms) => scripts.inspectArgs(terms, this.#keys),
      read: scripts.readInspect,
      callMs,
    })
    return { count, waiters: listeners }
  }

  listen(onWake: () => void): Subscription {
    return this.#server.listen(this.#keys, () => onWake())
  }

  /** Asks under the name of the request, and once more where the clocks had come apart. */
  async #once<A extends { readonly kind: string }>(
    asked: { script: Script; args(terms: Terms): Args; read(reply: unknown): A | Over | Forgotten },
    request: OnceRequest,
    callMs: number,
  ): Promise<A | Over> {
    const { runner } = this.#server
    const { script, read } = asked
    const endsAt = performance.now() + callMs
    const clock = () => runner.clockFor(this.#keys.both[0] as string)
    let [askedUs, sentAt] = [0, 0]
    for (;;) {
      const answer = await runner.ask({
        script,
        keys: [...this.#keys.both, this.#keys.request(request.id), this.#keys.kind],
        args: ({ publish }) => {
          sentAt = performance.now()
          askedUs = Math.max(askedUs, clock().latestUs(request.askedAt))
          // No copy may run longer than one that may have run is remembered.
          if (!request.mayHaveRun) request.untilUs = undefined
          request.untilUs ??= clock().inUs(request.keptMs)
          return asked.args({ askedUs, untilUs: request.untilUs, publish })
        },
        read,
        callMs: Math.max(1, endsAt - performance.now()),
      })
      if (!isForgotten(answer) && !isOver(answer)) return answer
      clock().heard(answer.serverTimeUs, sentAt)
      if (isForgotten(answer)) {
        if (request.mayHaveRun) throw new CallFailure('unknown', TOO_LATE, undefined, true)
        if (performance.now() >= endsAt) throw new CallFailure('unsent', 'it came too late')
      } else {
        if (wasAskedBefore(answer, request, sentAt)) return answer
        // The server's clock was set forward since it was last read: the call was made in this round.
        askedUs = answer.setUs
      }
    }
  }
}

/** What became of it nobody can tell any more. */
const TOO_LATE =
  'it answers again, and remembers nothing of the request, which is too late to be done'

function isForgotten(answer: { readonly kind: string }): answer is Forgotten {
  return answer.kind === 'forgotten'
}

function isOver(answer: { readonly kind: string }): answer is Over {
  return answer.kind === 'over'
}

/** Whether the call was made before the count was set, by the time that the server told with its answer. */
function wasAskedBefore(
  { setUs, serverTimeUs }: Over,
  { askedAt }: OnceRequest,
  sentAt: number,
): boolean {
  const latestMs = serverTimeUs / 1_000 - (sentAt - askedAt)
  return setUs / 1_000 > latestMs + SLACK_MS
}
