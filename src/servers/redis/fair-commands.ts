import type { Grant, HeartbeatAnswer, Released } from '../answers.ts'
import { INBOX, lockKeys, queueKeys } from './keys.ts'
import { beatsOf, fairGrantOf, fairReleasedOf, fairTryOf } from './replies.ts'
import type { ScriptRunner } from './script-runner.ts'
import * as scripts from './scripts.generated.ts'

/**
 * A grant stands for this long, in milliseconds, before its owner has confirmed it: a process that
 * is frozen when its turn comes holds the queue up for no longer.
 */
export const CLAIM_MS = 1_500

/** A place in a queue is kept for this long without a heartbeat, in milliseconds. */
export const ALIVE_MS = 3_000

/** The names of a lock that has a queue. */
export interface FairKeys {
  readonly lock: string
  readonly channel: string
  /** As the scripts take them: those of every lock, its queue and its clients. */
  readonly four: readonly string[]
  readonly six: readonly string[]
}

export function fairKeys(rawName: string): FairKeys {
  const { lock, channel, both } = lockKeys(rawName)
  const { queue, waiting, javaQueue, javaTimeouts } = queueKeys(rawName)
  const four = [...both, queue, waiting]
  return { lock, channel, four, six: [...four, javaQueue, javaTimeouts] }
}

/** The places of one client in the queue of one lock. */
export interface LockPlaces {
  readonly keys: FairKeys
  /** Those who are in line when the request is sent. */
  places(): readonly { wireOwner: string; ticket: string; claimMs: number }[]
}

/** The queues of fair locks on one server, as one client sees them. */
export class FairCommands {
  readonly #runner: ScriptRunner
  readonly #clientId: string
  readonly #label: string
  readonly #counterMs: number

  /** @param label what `inspect` shows for this process */
  constructor(calls: ScriptRunner, clientId: string, label: string, counterMs: number) {
    this.#counterMs = counterMs
    this.#runner = calls
    this.#clientId = clientId
    this.#label = label
  }

  /** The channel that this client is told on what it was granted. */
  get inbox(): string {
    return INBOX + this.#clientId
  }

  /**
   * Takes the lock in turn, confirms a grant, or queues.
   *
   * @param ticket the one from before, if any; null not to queue
   * @param listens whether this client hears what comes into its inbox
   */
  acquire(
    keys: FairKeys,
    owner: string,
    leaseMs: number,
    ticket: string | null,
    listens: () => boolean,
    timeoutMs: number,
  ): Promise<Grant> {
    const args = (notAfterUs: number) => [
      owner,
      leaseMs,
      ticket ?? 'try',
      notAfterUs,
      listens() ? 1 : '',
      this.#label,
      ...this.#terms,
    ]
    const read = ticket === null ? fairTryOf : fairGrantOf
    return this.#runner.runInTime(scripts.acquireFair, keys.four, args, timeoutMs, read)
  }

  /**
   * Gives the lock to the next in the queue, if any.
   *
   * @param token of the hold; '' ends all that the owner has, its place in the queue as well
   */
  release(
    keys: FairKeys,
    leaver: string,
    token: number | '',
    timeoutMs: number,
  ): Promise<Released> {
    const args = () => [
      leaver,
      token,
      this.#counterMs,
      CLAIM_MS,
      INBOX,
      keys.channel,
      this.#runner.publish,
    ]
    const read = (reply: unknown) => fairReleasedOf(reply, this.#clientId)
    return this.#runner.run(scripts.releaseFair, keys.six, args, timeoutMs, read)
  }

  /** @returns for each lock what is to be known of it, or the server's words for what is wrong */
  beat(
    locks: readonly LockPlaces[],
    listens: () => boolean,
    timeoutMs: number,
  ): Promise<(HeartbeatAnswer | string)[]> {
    const keys = locks.flatMap((lock) => lock.keys.four)
    const args = (notAfterUs: number) => [
      this.#clientId,
      notAfterUs,
      listens() ? 1 : '',
      this.#label,
      ...this.#terms,
      ...locks.flatMap((lock) => asArgs(lock.places())),
    ]
    return this.#runner.runInTime(scripts.heartbeat, keys, args, timeoutMs, (reply) =>
      beatsOf(reply, locks.length),
    )
  }

  get #terms(): (string | number)[] {
    return [this.#counterMs, CLAIM_MS, ALIVE_MS, INBOX]
  }
}

function asArgs(places: ReturnType<LockPlaces['places']>): (string | number)[] {
  const each = places.flatMap(({ wireOwner, ticket, claimMs }) => [
    wireOwner,
    ticket,
    claimMs < CLAIM_MS ? claimMs : '',
  ])
  return [places.length, ...each]
}
