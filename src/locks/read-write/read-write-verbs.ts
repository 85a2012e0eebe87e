import type { KindName } from '../../diagnostics.ts'
import type { KindVerbs, LockThere } from '../../local/kind-verbs.ts'
import type { AcquireAnswer, Gone } from '../../servers/answers.ts'
import {
  type RemoteReadWriteLock,
  UPGRADABLE_SUFFIX,
  WRITE_SUFFIX,
} from '../../servers/read-write-server.ts'
import type { Reply } from '../../servers/reply.ts'
import { WAITING_MS } from '../../servers/waiting-time.ts'

/** Who waits asks again after so long at the latest, in milliseconds: so it is known that it still does. */
export const ASK_AGAIN_MS = 1_000

/** A lease that ran out here has done so at its place as well after so long, in milliseconds. */
const AFTER_EXPIRY_MS = 1_000

/** Where the place does not answer a name is taken out for so much longer than it could have the lock, in milliseconds. */
const TAKEN_OUT_MS = 30_000

/** The place in a queue that this client may have for one side of the lock. */
class ClientPlace {
  /** Whether it may be there, even if nobody waits any more. */
  mayBeThere = false

  /** @param staysIfGranted whether the place is kept for the next waiter even if this request is granted */
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

/** The verbs of all sides of one read-write lock, who hear of releases by the same messages. */
export class ReadWriteVerbs {
  readonly reading: KindVerbs
  readonly upgrading: KindVerbs
  readonly writing: KindVerbs
  readonly #holds: LockThere['holds']
  /** How many requests are under way for those who wait. */
  #asking = 0
  /** What came meanwhile: the answer may come behind the message that is for who is answered. */
  readonly #early = new Set<string>()
  #onWake: (message?: string) => void = () => undefined

  constructor(
    remote: RemoteReadWriteLock,
    { waiters, holds, services }: Pick<LockThere, 'waiters' | 'holds' | 'services'>,
  ) {
    this.#holds = holds
    const isLast = (kind: KindName) => () => waiters.first?.request.kind.name !== kind
    const noWriter = isLast('write')
    // Where its owner reads as well the name goes on with that, which may be renewed yet.
    const abandonWriter = (owner: string, untilMs: number, leaseMs: number) => {
      let longestMs = leaseMs
      for (const hold of holds.all) longestMs = Math.max(longestMs, hold.leaseMs)
      remote.abandon(owner, untilMs, longestMs + TAKEN_OUT_MS, noWriter)
    }
    const verbsOf = (
      isLast: () => boolean,
      place: ClientPlace,
      suffix: string,
    ): Omit<KindVerbs, 'acquire' | 'reenter'> => ({
      release: (ending, reply) => remote.release(ending, isLast(), reply),
      abandon: (owner, untilMs, leaseMs) => remote.abandon(owner, untilMs, leaseMs, isLast),
      leave: () => {
        if (!place.mayBeThere || !isLast()) return
        place.mayBeThere = false
        // No owner has a name that is only a suffix: nothing but the place ends.
        remote.abandon(suffix, 0, WAITING_MS, isLast)
      },
      listensWith: this,
      listen: (onWake) => {
        this.#onWake = onWake
        return remote.listen((message) => this.#told(message))
      },
    })
    const reading = (isLast: () => boolean, suffix: string): KindVerbs => {
      const place = new ClientPlace()
      return {
        ...verbsOf(isLast, place, suffix),
        acquire: ({ beside = '', waits = false, isLast = true, ...attempt }, reply) => {
          const heard = this.#heard(reply, waits)
          const staysIfGranted = suffix === '' && !isLast
          const placed = waits && beside === '' ? place.asks(heard, staysIfGranted) : heard
          remote.read({ ...attempt, beside, waits, isLast }, placed)
        },
        reenter: (reentry, reply) => remote.rereads(reentry, reply),
      }
    }
    this.reading = reading(isLast('read'), '')
    this.upgrading = reading(() => waiters.firstAside === undefined, UPGRADABLE_SUFFIX)
    const place = new ClientPlace()
    this.writing = {
      ...verbsOf(noWriter, place, WRITE_SUFFIX),
      abandon: abandonWriter,
      acquire: ({ beside = '', waits = false, isLast = true, ...attempt }, reply) => {
        const heard = this.#heard(reply, waits)
        const placed = waits && beside === '' ? place.asks(heard, false) : heard
        remote.write({ ...attempt, beside, waits, isLast }, this.#unlessGone(beside, placed))
      },
      reenter: (reentry, reply) => remote.rewrites(reentry, reply),
      // Where its owner reads as well the key goes on, and so would this.
      ranOut: (owner) => {
        const takeOut = () => abandonWriter(owner, 0, 0)
        services.clock.after(AFTER_EXPIRY_MS, takeOut).unref()
      },
    }
  }

  #told(message?: string): void {
    if (message !== undefined && this.#asking > 0) this.#early.add(message)
    this.#onWake(message)
  }

  /** What the upgradable lock was to go on from is gone: so is the hold, and nobody writes who relied on it. */
  #unlessGone(beside: string, reply: Reply<AcquireAnswer>): Reply<AcquireAnswer | Gone> {
    return {
      answered: (answer) => {
        if (answer.kind !== 'gone') {
          reply.answered(answer)
          return
        }
        const hold = this.#holds.all.find(({ id }) => id.wireOwner === beside)
        hold?.loseGone()
        // One that was released meanwhile is none to go on from.
        const held = { kind: 'held', ttlMs: 0 } as const
        reply.answered(hold === undefined ? held : { ...held, never: hold.over() })
      },
      failed: (failure) => reply.failed(failure),
    }
  }

  #heard(reply: Reply<AcquireAnswer>, waits: boolean): Reply<AcquireAnswer> {
    if (!waits) return reply
    this.#asking += 1
    return {
      answered: (answer) => {
        const isLong = answer.kind === 'held' && (answer.ttlMs < 0 || answer.ttlMs > ASK_AGAIN_MS)
        reply.answered(isLong ? { ...answer, ttlMs: ASK_AGAIN_MS } : answer)
        // By now it knows since when it waits, and so which of them are for it.
        for (const message of this.#early) this.#onWake(message)
        this.#ended()
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
