import type { KindVerbs, LockThere } from '../../local/kind-verbs.ts'
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

/** Where the place does not answer a name is taken out for so much longer than it could have the lock, in milliseconds. */
const TAKEN_OUT_MS = 30_000

/** The verbs of both sides of one read-write lock, who hear of releases by the same messages. */
export class ReadWriteVerbs {
  readonly reading: KindVerbs
  readonly writing: KindVerbs
  /** Since when this client waits to write, as the place has it; null while it does not. */
  #since: string | null = null
  /** How many requests are under way for those who wait. */
  #asking = 0
  /** What came meanwhile: the answer may come behind the message that is for who is answered. */
  readonly #early = new Set<string>()
  #onWake: (message?: string) => void = () => undefined

  constructor(
    remote: RemoteReadWriteLock,
    { waiters, holds, services }: Pick<LockThere, 'waiters' | 'holds' | 'services'>,
  ) {
    const isLast = (isShared: boolean) => () => waiters.first?.request.kind.isShared !== isShared
    const [noReader, noWriter] = [isLast(true), isLast(false)]
    // Where its owner reads as well the name goes on with that, which may be renewed yet.
    const abandonWriter = (owner: string, untilMs: number, leaseMs: number) => {
      let longestMs = leaseMs
      for (const hold of holds.all) longestMs = Math.max(longestMs, hold.leaseMs)
      remote.abandon(owner, untilMs, longestMs + TAKEN_OUT_MS, noWriter)
    }
    const verbsOf = (isLast: () => boolean): Omit<KindVerbs, 'acquire' | 'reenter'> => ({
      release: (ending, reply) => remote.release(ending, isLast(), reply),
      abandon: (owner, untilMs, leaseMs) => remote.abandon(owner, untilMs, leaseMs, isLast),
      listensWith: this,
      listen: (onWake) => {
        this.#onWake = onWake
        return remote.listen((message) => this.#told(message))
      },
    })
    this.reading = {
      ...verbsOf(noReader),
      acquire: ({ beside = '', waits = false, isLast = true, ...attempt }, reply) =>
        remote.read(
          { ...attempt, beside, waits, isLast },
          this.#heard(reply, waits, () => null),
        ),
      reenter: (reentry, reply) => remote.rereads(reentry, reply),
    }
    this.writing = {
      ...verbsOf(noWriter),
      abandon: abandonWriter,
      acquire: ({ beside = '', waits = false, isLast = true, ...attempt }, reply) =>
        remote.write(
          { ...attempt, beside, waits, isLast },
          this.#heard(reply, waits, ({ since }) => since ?? null),
        ),
      reenter: (reentry, reply) => remote.rewrites(reentry, reply),
      // Where its owner reads as well the key goes on, and so would this.
      ranOut: (owner) => {
        const takeOut = () => abandonWriter(owner, 0, 0)
        services.clock.after(AFTER_EXPIRY_MS, takeOut).unref()
      },
    }
  }

  #told(message?: string): void {
    if (message === undefined || isMeant(message, this.#since)) this.#onWake(message)
    else if (this.#asking > 0) this.#early.add(message)
  }

  #heard(
    reply: Reply<AcquireAnswer>,
    waits: boolean,
    sinceOf: (held: HeldSince) => string | null,
  ): Reply<AcquireAnswer | HeldSince> {
    if (!waits) return reply
    this.#asking += 1
    return {
      answered: (answer) => {
        this.#since = answer.kind === 'held' ? sinceOf(answer) : null
        for (const message of this.#early) {
          if (isMeant(message, this.#since)) this.#onWake(message)
        }
        this.#ended()
        const isLong = answer.kind === 'held' && (answer.ttlMs < 0 || answer.ttlMs > ASK_AGAIN_MS)
        reply.answered(isLong ? { ...answer, ttlMs: ASK_AGAIN_MS } : answer)
      },
      failed: (failure) => {
        this.#ended()
        reply.failed(failure)
      },
    }
  }

  #ended(): void {
    this.#asking -= 1
    if (this.#asking === 0) this.#early.clear()
  }
}
