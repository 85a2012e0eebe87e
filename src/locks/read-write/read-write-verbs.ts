import type { KindVerbs } from '../../local/kind-verbs.ts'
import type { AcquireAnswer } from '../../servers/answers.ts'
import {
  type HeldSince,
  isMeant,
  type RemoteReadWriteLock,
} from '../../servers/read-write-server.ts'
import type { Reply } from '../../servers/reply.ts'

/** Who waits asks again after so long at the latest, in milliseconds: so it is known that it still does. */
const ASK_AGAIN_MS = 1_000

/** A lease that ran out here has done so at its place as well after so long, in milliseconds. */
const AFTER_EXPIRY_MS = 1_000

/** Those of one client who want the lock. */
interface Waiters {
  readonly isEmpty: boolean
}

/** The verbs of both sides of one read-write lock, who hear of releases by the same messages. */
export class ReadWriteVerbs {
  readonly reading: KindVerbs
  readonly writing: KindVerbs
  /** Since when this client waits to write, as the place has it; null while it does not. */
  #since: string | null = null

  constructor(remote: RemoteReadWriteLock, waiters: Waiters) {
    const isLast = () => waiters.isEmpty
    const shared: Pick<KindVerbs, 'release' | 'abandon' | 'listen' | 'listensWith'> = {
      release: (ending, reply) => remote.release(ending, isLast(), reply),
      abandon: (owner, untilMs, leaseMs) => remote.abandon(owner, untilMs, leaseMs, isLast),
      listensWith: this,
      listen: (onWake) =>
        remote.listen((message) => {
          if (message === undefined || isMeant(message, this.#since)) onWake(message)
        }),
    }
    this.reading = {
      ...shared,
      acquire: ({ beside = '', waits = false, isLast = true, ...attempt }, reply) =>
        remote.read(
          { ...attempt, beside, waits, isLast },
          this.#heard(reply, waits, () => null),
        ),
      reenter: (reentry, reply) => remote.rereads(reentry, reply),
    }
    this.writing = {
      ...shared,
      acquire: ({ beside = '', waits = false, isLast = true, ...attempt }, reply) =>
        remote.write(
          { ...attempt, beside, waits, isLast },
          this.#heard(reply, waits, ({ since }) => since ?? null),
        ),
      reenter: (reentry, reply) => remote.rewrites(reentry, reply),
      // Where its owner reads as well the key goes on, and so would this.
      ranOut: (owner) => {
        setTimeout(() => remote.abandon(owner, 0, 0, isLast), AFTER_EXPIRY_MS).unref()
      },
    }
  }

  #heard(
    reply: Reply<AcquireAnswer>,
    waits: boolean,
    sinceOf: (held: HeldSince) => string | null,
  ): Reply<AcquireAnswer | HeldSince> {
    return {
      answered: (answer) => {
        if (!waits) {
          reply.answered(answer)
          return
        }
        this.#since = answer.kind === 'held' ? sinceOf(answer) : null
        const isLong = answer.kind === 'held' && (answer.ttlMs < 0 || answer.ttlMs > ASK_AGAIN_MS)
        reply.answered(isLong ? { ...answer, ttlMs: ASK_AGAIN_MS } : answer)
      },
      failed: (failure) => reply.failed(failure),
    }
  }
}
