import type { HeartbeatAnswer, QueueAnswer, Released } from '../answers.ts'
import {
  CLAIM_MS,
  type EndedFairHold,
  FAIR,
  type FairAttempt,
  type FairGrant,
  type FairServer,
  type LocalPlaces,
  type RemoteFairLock,
} from '../fair-server.ts'
import type { Remaining } from '../remaining.ts'
import type { Reply } from '../reply.ts'
import type { KindClient } from '../server-kind.ts'
import type { Subscription } from '../subscription.ts'
import { INBOX, lockKeys } from './calls/keys.ts'
import type { KindScripts, RedisKind } from './calls/redis-kind.ts'
import * as fair from './fair-bindings.ts'
import { queueKeys } from './key-names/fair.ts'
import type { HeartbeatArgs } from './scripts/fair.generated.ts'
import type { RenewArgs } from './scripts/lock.generated.ts'

function fairKeys(rawName: string) {
  return { ...lockKeys(rawName), ...queueKeys(rawName) }
}

type FairKeys = ReturnType<typeof fairKeys>

class RedisFairServer implements FairServer {
  readonly #server: KindScripts
  readonly #clientId: string
  readonly #label: string
  readonly #releaseFor: ReturnType<typeof fair.releasesOf>

  constructor(server: KindScripts, { clientId, label }: KindClient) {
    this.#server = server
    this.#clientId = clientId
    this.#label = label
    this.#releaseFor = fair.releasesOf(clientId)
  }

  lock(rawName: string): RemoteFairLock {
    const keys = fairKeys(rawName)
    return {
      rawName,
      acquire: (attempt, reply) => this.#acquire(keys, attempt, reply),
      confirm: (owner, leaseMs, callMs, reply) =>
        this.#confirm(keys, { owners: [owner], leaseMs }, callMs, reply),
      endHold: (ending, reply) => this.#endHold(keys, ending, reply),
      abandon: (owner, untilMs, leaseMs) => {
        const pending = this.#server.pendingReleases(rawName)
        pending.abandon({ rawName, owner }, untilMs, leaseMs, (ending, reply) =>
          this.#endHold(keys, ending, reply),
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

  beat(
    locks: readonly LocalPlaces[],
    listens: () => boolean,
    callMs: number,
  ): Promise<(HeartbeatAnswer | string)[]> {
    const names = {
      locks: locks.flatMap(({ rawName }) => fair.acquire.keysOf(fairKeys(rawName))),
    }
    const given = () => ({
      client: this.#clientId,
      listens: this.#listens(listens),
      label: this.#label,
      places: locks.map(wantedAt),
    })
    return this.#server.runner.request(fair.heartbeat(locks.length), names, given, callMs)
  }

  /**
   * True if this client listens to its inbox. False in a cluster, because a node there counts only
   * its own listeners.
   */
  #listens(listens: () => boolean): boolean {
    return !this.#server.runner.clustered && listens()
  }

  #acquire(
    keys: FairKeys,
    { owner, leaseMs, ticket, listens, callMs }: FairAttempt,
    reply: Reply<QueueAnswer>,
  ): void {
    const binding = ticket === null ? fair.acquire : fair.acquireInTurn
    const label = this.#label
    const given = () => ({
      owner,
      leaseMs,
      ticket: ticket ?? 'try',
      listens: this.#listens(listens),
      label,
    })
    this.#server.runner.run(binding, keys, given, callMs, reply)
  }

  #confirm(
    { lock, counter }: FairKeys,
    given: RenewArgs,
    callMs: number,
    reply: Reply<Remaining>,
  ): void {
    this.#server.runner.run(fair.confirm, { keys: [lock, counter] }, given, callMs, reply)
  }

  #endHold(
    keys: FairKeys,
    { owner, token, listens, callMs, most = 0, served = [] }: EndedFairHold,
    reply: Reply<Released>,
  ): void {
    const { runner } = this.#server
    const binding = this.#releaseFor(runner.ownListeners(listens))
    runner.run(binding, keys, { owner, token, most, served }, callMs, reply)
  }
}

export const redisFair: RedisKind = {
  kind: FAIR,
  type: 'hash',
  open: (server, client) => new RedisFairServer(server, client),
}

/**
 * Returns the grant in a message of the inbox. Undefined if the message is not a grant of Holdfast.
 * The script part `queue` explains the format of the message.
 */
function grantIn(message: string): FairGrant | undefined {
  const [, token, length = '0', words = ''] = /^(\d+)(?:\+(\d+))? (.+)$/s.exec(message) ?? []
  const name = words.split(' ')
  const [owner, ...run] = name.splice(0, 1 + Number(length))
  const rawName = name.join(' ')
  if (!owner || rawName === '') return undefined
  return { rawName, owner, token: Number(token), ...(run.length > 0 && { run }) }
}

/**
 * Returns the places in the queue of one lock that the client wants now. If a grant lasts for the
 * usual time, `claimMs` is ''.
 */
function wantedAt(lock: LocalPlaces): HeartbeatArgs['places'][number] {
  return lock.places().map(({ ownerId, ticket, claimMs }) => ({
    owner: ownerId,
    ticket,
    claimMs: claimMs < CLAIM_MS ? claimMs : '',
  }))
}
