import type { AcquireAnswer, LeaseToRenew, ReenterAnswer } from '../../answers.ts'
import type { CallFailure } from '../../call-failure.ts'
import { forcedKey, type LockKeys } from '../../redis/calls/keys.ts'
import type { ScriptServer } from '../../redis/calls/script-runner.ts'
import { reentryOf, sound } from '../../redis/lock-bindings.ts'
import { converted, only } from '../../redis/scripts/convert.ts'
import * as quorum from '../../redis/scripts/quorum.generated.ts'
import { promised, type Reply, replyWith } from '../../reply.ts'
import type { Attempt, Reentry } from '../../requests.ts'

/**
 * The answer of a master that may not vote yet. `sinceUs` is the server time from which the master
 * votes, in µs. If `sinceUs` is null, the client must first enrol the master.
 */
export interface Forgot {
  readonly kind: 'forgot'
  readonly sinceUs: number | null
}

const vote = sound(only(quorum.vote, 'granted', 'held', 'forgot'))
const restore = converted(
  quorum.restore,
  ({ kind }): RestoreAnswer => ({ kind: 'granted', isThere: kind === 'held' }),
)
const voteAgain = converted(only(quorum.vote, 'granted', 'gone'), reentryOf)

/** The parts of a master that a `VoteRequest` uses. */
interface VoteMaster {
  readonly server: ScriptServer
  readonly roundTrip: { took(ms: number): void }
  readonly enrolment: {
    voted(): void
    onForgotten(
      answer: Forgot,
      endsAt: number,
      retry: (leftMs: number) => Promise<AcquireAnswer | Forgot>,
    ): Promise<AcquireAnswer>
  }
  /**
   * The longest lease that this client acquires, in milliseconds. If the mark of a master contains
   * a shorter lease, the master answers `forgot`.
   */
  readonly longestMs: number
}

interface VoteReply extends Reply<AcquireAnswer> {
  /** Called each time a request is sent. */
  sent(): void
}

/**
 * Asks a master for its vote on a lock. If the master answers `forgot`, the client may enrol the
 * master and ask again.
 */
export class VoteRequest implements Reply<AcquireAnswer | Forgot> {
  readonly #master: VoteMaster
  readonly #keys: LockKeys
  readonly #attempt: Attempt
  readonly #reply: VoteReply
  readonly #sentAt = performance.now()

  constructor(master: VoteMaster, keys: LockKeys, attempt: Attempt, reply: VoteReply) {
    this.#master = master
    this.#keys = keys
    this.#attempt = attempt
    this.#reply = reply
  }

  send(callMs = this.#attempt.callMs, reply: Reply<AcquireAnswer | Forgot> = this): void {
    const { owner, leaseMs, reserve } = this.#attempt
    const { server, longestMs } = this.#master
    const given = () => {
      this.#reply.sent()
      return { owner, leaseMs, longestMs, reserve }
    }
    server.runner.run(vote, this.#keys, given, callMs, reply)
  }

  answered(answer: AcquireAnswer | Forgot): void {
    const { roundTrip, enrolment } = this.#master
    roundTrip.took(performance.now() - this.#sentAt)
    if (answer.kind !== 'forgot') {
      enrolment.voted()
      this.#reply.answered(answer)
      return
    }
    const endsAt = this.#sentAt + this.#attempt.callMs
    const retry = (leftMs: number) =>
      promised<AcquireAnswer | Forgot>((reply) => this.send(leftMs, reply))
    replyWith(enrolment.onForgotten(answer, endsAt, retry), this.#reply)
  }

  failed(failure: CallFailure): void {
    this.#reply.failed(failure)
  }
}

/** Asks a master to raise the hold count of an owner that holds the lock on this master. */
export function reenterByVote(
  { runner }: ScriptServer,
  keys: LockKeys,
  { owner, leaseMs, holds, token, callMs }: Reentry,
  longestMs: number,
  reply: Reply<ReenterAnswer>,
): void {
  runner.run(voteAgain, keys, { owner, leaseMs, longestMs, holds, token }, callMs, reply)
}

/**
 * @returns true if the owner holds the lock on this master and the counter is not below the token
 */
export function agreeAt(
  { runner }: ScriptServer,
  keys: LockKeys,
  owner: string,
  token: number,
  callMs: number,
): Promise<boolean> {
  return runner.request(quorum.agree, keys, { owner, token }, callMs)
}

/** Every answer counts as a grant, because the owner id may hold the lock on this master. */
export interface RestoreAnswer {
  readonly kind: 'granted'
  /** True if the owner id holds the lock on this master now. */
  readonly isThere: boolean
}

/** Restores a hold on one master. Called after a majority has confirmed the hold. */
export function restoreAt(
  { runner }: ScriptServer,
  keys: LockKeys,
  { ownerId, holds = 1, token = 0 }: LeaseToRenew,
  leaseMs: number,
  callMs: number,
  reply: Reply<RestoreAnswer>,
): void {
  const names = { ...keys, forced: forcedKey(keys.lock) }
  const given = { owner: ownerId, holds, leaseMs, token }
  runner.run(restore, names, given, callMs, reply)
}
