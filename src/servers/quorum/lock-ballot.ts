import type { Granted, LeaseToRenew } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import type { LockKeys } from '../redis/calls/keys.ts'
import type { Reply } from '../reply.ts'
import { Ballot, type Vote } from './ballot.ts'
import { count, isAnswer, isGranted, type RequestedMasters, type VoteAnswer } from './majority.ts'
import type { Voter } from './master/voter.ts'
import { isWorthChecking, type Repairs } from './repairs.ts'
import type { RoundTrips } from './round-trips.ts'

/** The parts of a quorum that all its locks share. */
export interface LockMasters extends RequestedMasters<Voter> {
  readonly roundTrips: RoundTrips
  readonly repairs: Repairs
  /** Returns the time limit of one request, but not more than `longestMs`, in milliseconds. */
  callMs(longestMs: number): number
}

/** One lock on several masters. */
export interface VotedLock {
  readonly all: LockMasters
  readonly keys: LockKeys
}

/** One request about a lock to all masters. Completes the reply of the caller once. */
export abstract class LockBallot<
  L extends VotedLock,
  Q extends { readonly callMs: number },
  A extends VoteAnswer,
> extends Ballot<Voter, A> {
  protected readonly lock: L
  protected readonly question: Q
  protected readonly reply: Reply<A>

  constructor(lock: L, question: Q, reply: Reply<A>) {
    super(lock.all.masters)
    this.lock = lock
    this.question = { ...question, callMs: lock.all.callMs(question.callMs) }
    this.reply = reply
  }

  protected get all(): LockMasters {
    return this.lock.all
  }

  protected get keys(): LockKeys {
    return this.lock.keys
  }

  /** Returns how many masters gave an answer of this kind. */
  protected count(kind: A['kind']): number {
    return count(this.votes, kind)
  }

  /** True if the owner id cannot have the hold on a majority. */
  protected get isGone(): boolean {
    return this.count('gone') > this.all.size.spare
  }

  /** @param mayBeDone true if the request may have had an effect, or may still have one */
  protected fail(mayBeDone: boolean): void {
    this.reply.failed(this.all.failure(this.votes, mayBeDone))
  }

  protected abandon(owner: string): void {
    abandonOnAll(this.all.masters, this.keys, owner)
  }
}

/**
 * A ballot that gives a hold to an owner id. If a master may lack the hold, `Repairs` checks the
 * masters later.
 */
export abstract class GrantBallot<
  L extends VotedLock,
  Q extends { readonly callMs: number },
  R extends VoteAnswer,
> extends LockBallot<L, Q, R | Granted> {
  #isMissed = false
  #lease: (() => LeaseToRenew) | undefined

  protected get hasMajority(): boolean {
    return this.count('granted') >= this.all.size.majority
  }

  /**
   * True if a master has granted the hold, or if votes are missing. A failed vote counts neither as
   * granted nor as missing.
   */
  protected get isOpen(): boolean {
    return !this.areAllIn || this.count('granted') > 0
  }

  protected override late(vote: Vote<Voter, R | Granted | CallFailure>): void {
    if (this.#isMissed || !isMissing(vote)) return
    this.#isMissed = true
    if (this.#lease !== undefined) this.all.repairs.add(this.#lease())
  }

  protected won(grant: Granted): void {
    this.#isMissed ||= this.votes.some(isMissing)
    const onHeld = (lease: () => LeaseToRenew) => {
      this.#lease = lease
      if (this.#isMissed) this.all.repairs.add(lease())
    }
    this.reply.answered({ ...grant, onHeld })
  }
}

/**
 * Releases all grants of the owner id on all masters, even grants whose answers have not arrived.
 *
 * @param fromMs earliest time of the release, on `performance.now()`; by default at once
 */
export function abandonOnAll(
  masters: readonly Voter[],
  keys: LockKeys,
  owner: string,
  fromMs?: number,
): void {
  for (const master of masters) master.abandon(keys, owner, fromMs)
}

function isMissing(vote: Vote<Voter, VoteAnswer | CallFailure>): boolean {
  const { member, answer } = vote
  return isAnswer(answer) ? !isGranted(vote) : isWorthChecking(member, answer)
}
