import type { KindVerbs } from '../../local/kind-verbs.ts'
import type { AcquireAnswer } from '../../servers/answers.ts'
import type { RemotePool } from '../../servers/permit-pool.ts'
import type { Reply } from '../../servers/reply.ts'

/** Who waits asks again after so long at the latest, in milliseconds: so it is known that it still does. */
const ASK_AGAIN_MS = 1_000

/** Those of one client who want permits, in the order in which they are served. */
interface Waiters {
  readonly isEmpty: boolean
  readonly first: { readonly waitedMs: number } | undefined
}

/** The verbs of one semaphore, whatever the number of permits. */
export class PermitVerbs {
  readonly verbs: KindVerbs
  /** Since when this client waits, as the place has it; null while it does not. */
  #since: string | null = null

  constructor(remote: RemotePool, waiters: Waiters) {
    const isLast = () => waiters.isEmpty
    this.verbs = {
      acquire: ({ waits = false, isLast = true, ...attempt }, reply) => {
        const waitedMs = waits ? (waiters.first?.waitedMs ?? 0) : 0
        remote.acquire({ ...attempt, waits, isLast, waitedMs }, this.#heard(reply, waits))
      },
      // Each acquisition is for itself.
      reenter: (_, reply) => reply.answered({ kind: 'gone' }),
      release: (ending, reply) => remote.release(ending, isLast(), reply),
      abandon: (owner, untilMs, leaseMs) => remote.abandon(owner, untilMs, leaseMs, isLast),
      listensWith: this,
      listen: (onWake) =>
        remote.listen((message) => {
          if (message === undefined || isMeant(message, this.#since)) onWake(message)
        }),
    }
  }

  #heard(reply: Reply<AcquireAnswer>, waits: boolean): Reply<AcquireAnswer> {
    return {
      answered: (answer) => {
        if (!waits) {
          reply.answered(answer)
          return
        }
        this.#since = answer.kind === 'held' ? (answer.since ?? null) : null
        const isLong = answer.kind === 'held' && (answer.ttlMs < 0 || answer.ttlMs > ASK_AGAIN_MS)
        reply.answered(isLong ? { ...answer, ttlMs: ASK_AGAIN_MS } : answer)
      },
      failed: (failure) => reply.failed(failure),
    }
  }
}

/**
 * Whether a message is for a client that waits: a ticket of its own, or by a client of Redisson, which tells
 * all of them how many permits there are. What ours tell Redisson's begins with 0.
 */
function isMeant(message: string, since: string | null): boolean {
  return message === since || (message.length < 12 && !message.startsWith('0'))
}
