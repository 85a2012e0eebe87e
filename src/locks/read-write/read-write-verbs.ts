import type { KindName } from '../../diagnostics.ts'
import type { KindVerbs, LockForVerbs } from '../../local/kind-verbs.ts'
import type { AcquireAnswer, Gone } from '../../servers/answers.ts'
import type { Hint } from '../../servers/hint.ts'
import type { LockSide } from '../../servers/owner-id.ts'
import type { RemoteReadWriteLock } from '../../servers/read-write-server.ts'
import type { Reply } from '../../servers/reply.ts'

/**
 * A waiter sends its request again after at most this time, in milliseconds. So the server knows
 * that the client still waits.
 */
export const ASK_AGAIN_MS = 1_000

/**
 * If a lease has expired by this client's clock, it has also expired on the server after this time,
 * in milliseconds.
 */
const AFTER_EXPIRY_MS = 1_000

/**
 * If the server does not answer, the client repeats the removal of a writer's owner id. The client
 * stops after the longest lease plus this time, in milliseconds.
 */
const TAKEN_OUT_MS = 30_000

/** Records if this client may be in the queue on the server for one side of the lock. */
class SidePlace {
  /** True if this client may be in the queue, even if no call waits any more. */
  mayBeThere = false

  /**
   * Records a request that puts the client in the queue. A grant removes the client from the queue.
   *
   * @param staysIfGranted true if the client stays in the queue for its next waiter, even after a
   *   grant
   */
  asks(reply: Reply<AcquireAnswer>, staysIfGranted: boolean): Reply<AcquireAnswer> {
    this.mayBeThere = true
    return {
      answered: (answer) => {
        this.mayBeThere = answer.kind !== 'granted' || staysIfGranted
        reply.answered(answer)
      },
      failed: (failure) => reply.failed(failure),
    }
  }
}

/**
 * The requests of all sides of one read-write lock. All sides share one subscription, because they
 * receive the same messages.
 */
export class ReadWriteVerbs {
  readonly reading: KindVerbs
  readonly upgrading: KindVerbs
  readonly writing: KindVerbs
  readonly #holds: LockForVerbs['holds']
  /** The number of requests of waiters that are in flight. */
  #asking = 0
  /**
   * The hints of kind `turn` that arrived while requests were in flight. A waiter recognises its
   * hint only after the answer to its request. So each answer delivers these hints again.
   */
  readonly #early = new Map<string, Hint>()
  #onHint: (hint: Hint) => void = () => undefined

  constructor(
    remote: RemoteReadWriteLock,
    { waiters, holds, services }: Pick<LockForVerbs, 'waiters' | 'holds' | 'services'>,
  ) {
    this.#holds = holds
    const isLast = (kind: KindName) => () => waiters.first?.request.kind.name !== kind
    const noWriter = isLast('write')
    // Removes the owner id of a writer. If the owner also reads, each renewal of its read lease keeps
    // the key of the lock, which contains the write hold. So the client repeats an unanswered removal
    // for longer than the longest lease of all holds.
    const abandonWriter = (owner: string, untilMs: number, leaseMs: number) => {
      let longestMs = leaseMs
      for (const hold of holds.all) longestMs = Math.max(longestMs, hold.leaseMs)
      remote.abandon(owner, untilMs, longestMs + TAKEN_OUT_MS, noWriter)
    }
    const verbsOf = (
      isLast: () => boolean,
      place: SidePlace,
      side: LockSide,
    ): Omit<KindVerbs, 'acquire' | 'reenter'> => ({
      lower: (ending, reply) => remote.lower(ending, isLast(), reply),
      abandon: (owner, untilMs, leaseMs) => remote.abandon(owner, untilMs, leaseMs, isLast),
      stopWaiting: () => {
        if (!place.mayBeThere || !isLast()) return
        place.mayBeThere = false
        remote.stopWaiting(side, isLast)
      },
      listensWith: this,
      listen: (onHint) => {
        this.#onHint = onHint
        return remote.listen((hint) => this.#handleHint(hint))
      },
    })
    const reading = (isLast: () => boolean, side: LockSide): KindVerbs => {
      const place = new SidePlace()
      return {
        ...verbsOf(isLast, place, side),
        acquire: ({ beside = '', waits = false, isLast = true, ...attempt }, reply) => {
          const handler = this.#handling(reply, waits)
          const staysIfGranted = side === 'read' && !isLast
          const placed = waits && beside === '' ? place.asks(handler, staysIfGranted) : handler
          remote.read({ ...attempt, beside, waits, isLast }, placed)
        },
        reenter: (reentry, reply) => remote.rereads(reentry, reply),
      }
    }
    this.reading = reading(isLast('read'), 'read')
    this.upgrading = reading(() => waiters.firstAside === undefined, 'upgradable')
    const place = new SidePlace()
    this.writing = {
      ...verbsOf(noWriter, place, 'write'),
      abandon: abandonWriter,
      acquire: ({ beside = '', waits = false, isLast = true, ...attempt }, reply) => {
        const handler = this.#handling(reply, waits)
        const placed = waits && beside === '' ? place.asks(handler, false) : handler
        remote.write({ ...attempt, beside, waits, isLast }, this.#unlessGone(beside, placed))
      },
      reenter: (reentry, reply) => remote.rewrites(reentry, reply),
      // If the owner also reads, the key of the lock stays on the server and still contains the
      // expired write hold. So the client removes the write hold.
      ranOut: (owner) => {
        const takeOut = () => abandonWriter(owner, 0, 0)
        services.clock.after(AFTER_EXPIRY_MS, takeOut).unref()
      },
    }
  }

  #handleHint(hint: Hint): void {
    if (hint.kind === 'turn' && this.#asking > 0) this.#early.set(hint.of, hint)
    this.#onHint(hint)
  }

  /**
   * Returns a reply that also handles the answer `gone`: the upgradable hold no longer exists on
   * the server. The client then treats the hold as lost, because code that relies on the hold must
   * not write.
   */
  #unlessGone(beside: string, reply: Reply<AcquireAnswer>): Reply<AcquireAnswer | Gone> {
    return {
      answered: (answer) => {
        if (answer.kind !== 'gone') {
          reply.answered(answer)
          return
        }
        const hold = this.#holds.all.find(({ id }) => id.ownerId === beside)
        hold?.loseGone()
        // If the client has no such hold, the hold was released during the request. The answer is
        // then a refusal.
        const held = { kind: 'held', ttlMs: 0 } as const
        reply.answered(hold === undefined ? held : { ...held, never: hold.whyEnded() })
      },
      failed: (failure) => reply.failed(failure),
    }
  }

  #handling(reply: Reply<AcquireAnswer>, waits: boolean): Reply<AcquireAnswer> {
    if (!waits) return reply
    this.#asking += 1
    return {
      answered: (answer) => {
        const isLong = answer.kind === 'held' && answer.ttlMs > ASK_AGAIN_MS
        reply.answered(isLong ? { ...answer, ttlMs: ASK_AGAIN_MS } : answer)
        // The answer contains the id of the wait. With this id, the waiter recognises its own hints
        // among the early hints.
        for (const hint of this.#early.values()) this.#onHint(hint)
        this.#answerHandled()
      },
      failed: (failure) => {
        this.#answerHandled()
        reply.failed(failure)
      },
    }
  }

  #answerHandled(): void {
    this.#asking -= 1
    if (this.#asking === 0) this.#early.clear()
  }
}
