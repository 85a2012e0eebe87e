import type { HeartbeatAnswer, QueueAnswer, Released } from '../answers.ts'
import {
  CLAIM_MS,
  type FairAttempt,
  type FairGrant,
  type FairServer,
  type LocalPlaces,
  type RemoteFairLock,
} from '../fair-server.ts'
import type { Reply } from '../reply.ts'
import type { KindClient } from '../server-kind.ts'
import type { Subscription } from '../subscription.ts'
import { INBOX, lockKeys, queueKeys } from './calls/keys.ts'
import type { KindScripts, RedisKind } from './calls/redis-kind.ts'
import { beatsOf, fairGrantOf, fairReleasedOf, fairTryOf } from './replies.ts'
import * as fair from './scripts/fair.generated.ts'

/** The keys and the channel of a fair lock, grouped as the scripts need them. */
function fairKeys(rawName: string) {
  const { channel, both } = lockKeys(rawName)
  const { queue, waiting, javaQueue, javaTimeouts } = queueKeys(rawName)
  const four = [...both, queue, waiting]
  return { channel, four, six: [...four, javaQueue, javaTimeouts] }
}

/** The queues of fair locks on one server, for one client. */
class RedisFairServer implements FairServer {
  readonly #server: KindScripts
  readonly #clientId: string
  readonly #label: string

  constructor(server: KindScripts, { clientId, label }: KindClient) {
    this.#server = server
    this.#clientId = clientId
    this.#label = label
  }

  lock(rawName: string): RemoteFairLock {
    const keys = fairKeys(rawName)
    return {
      rawName,
      acquire: (attempt, reply) => this.#acquire(keys.four, attempt, reply),
      endHold: (owner, token, callMs, reply) => this.#endHold(keys, owner, token, callMs, reply),
      abandon: (owner, untilMs, leaseMs) => {
        const pending = this.#server.pendingReleases(rawName)
        pending.abandon({ key: rawName, owner }, untilMs, leaseMs, ({ callMs }, reply) =>
          this.#endHold(keys, owner, '', callMs, reply),
        )
      },
    }
  }

  listen(onGrant: (grant?: FairGrant) => void): Subscription {
    return this.#server.listenTo(INBOX + this.#clientId, (message) => {
      const grant = message === undefined ? undefined : grantIn(message)
      if (message === undefined || grant !== undefined) onGrant(grant)
    })
  }

  /**
   * True for a single server. In a cluster it is false, because a node counts only the listeners
   * that are connected to it.
   */
  get countsListeners(): boolean {
    return !this.#server.runner.clustered
  }

  beat(
    locks: readonly LocalPlaces[],
    listens: () => boolean,
    callMs: number,
  ): Promise<(HeartbeatAnswer | string)[]> {
    return this.#server.runner.request({
      script: fair.heartbeat,
      keys: locks.flatMap(({ rawName }) => fairKeys(rawName).four),
      args: (terms) => {
        const places = locks.map(wantedAt)
        const given = { client: this.#clientId, listens: listens(), label: this.#label, places }
        return fair.heartbeatArgs(given, terms)
      },
      read: (reply) => beatsOf(reply, locks.length),
      callMs,
    })
  }

  #acquire(
    keys: readonly string[],
    { owner, leaseMs, ticket, listens, callMs }: FairAttempt,
    reply: Reply<QueueAnswer>,
  ): void {
    const label = this.#label
    this.#server.runner.run(
      {
        script: fair.acquire,
        keys,
        args: (terms) => {
          const asked = { owner, leaseMs, ticket: ticket ?? 'try', listens: listens(), label }
          return fair.acquireArgs(asked, terms)
        },
        read: ticket === null ? fairTryOf : fairGrantOf,
        callMs,
      },
      reply,
    )
  }

  #endHold(
    keys: ReturnType<typeof fairKeys>,
    owner: string,
    token: number | '',
    callMs: number,
    reply: Reply<Released>,
  ): void {
    this.#server.runner.run(
      {
        script: fair.release,
        keys: keys.six,
        args: (terms) => fair.releaseArgs({ owner, token }, terms, keys),
        read: (answer) => fairReleasedOf(answer, this.#clientId),
        callMs,
      },
      reply,
    )
  }
}

export const redisFair: Omit<RedisKind, 'what'> = {
  type: 'hash',
  open: (server, client) => new RedisFairServer(server, client),
}

/**
 * Returns the grant in a message of the inbox; undefined if the message is not a grant of Holdfast.
 */
function grantIn(message: string): FairGrant | undefined {
  const [, token, owner, rawName] = /^(\d+) (\S+) (.+)$/s.exec(message) ?? []
  if (rawName === undefined || owner === undefined) return undefined
  return { rawName, owner, token: Number(token) }
}

/**
 * Returns the places in the queue of one lock that the client wants now. `claimMs` is '' if the
 * usual claim window applies.
 */
function wantedAt(lock: LocalPlaces): fair.HeartbeatArgs['places'][number] {
  return lock.places().map(({ wireOwner, ticket, claimMs }) => ({
    owner: wireOwner,
    ticket,
    claimMs: claimMs < CLAIM_MS ? claimMs : '',
  }))
}
