import {
  type AcquireAnswer,
  type Gone,
  MOST_LISTED,
  type ReadWriteFacts,
  type ReenterAnswer,
  type Released,
} from '../../answers.ts'
import type { Hint } from '../../hint.ts'
import type { Ending, Reentry } from '../../lock-server.ts'
import type {
  ReadWriteServer,
  RemoteReadWriteLock,
  WaitingAttempt,
} from '../../read-write-server.ts'
import { promised, type Reply } from '../../reply.ts'
import type { Subscription } from '../../subscription.ts'
import { countsForMs } from '../../waiting-time.ts'
import { readWriteKeys } from '../calls/keys.ts'
import { type KindScriptServer, KindServer } from '../calls/kind-server.ts'
import type { RedisKind } from '../calls/redis-kind.ts'
import type { Renewing } from '../calls/renew.ts'
import * as scripts from '../scripts/read-write.generated.ts'
import { readWriteHint } from './read-write-hint.ts'
import {
  readingOf,
  readWriteFacts,
  rereadingOf,
  rewritingOf,
  writingOf,
} from './read-write-replies.ts'

type Keys = ReturnType<typeof readWriteKeys>

/** The read-write locks on one server or cluster, for one client. */
class RedisReadWriteServer extends KindServer implements ReadWriteServer {
  lock(rawName: string): RemoteReadWriteLock {
    return new RedisReadWriteLock(this.server, this.clientId, rawName)
  }

  protected renewing(leaseMs: number): Renewing {
    return {
      script: scripts.renew,
      keysOf: (rawName) => readWriteKeys(rawName).both,
      args: (group, terms) =>
        scripts.renewArgs(
          {
            leaseMs,
            holds: group.map(({ key, wireOwner }) => ({
              owner: wireOwner,
              prefix: readWriteKeys(key).prefix,
            })),
          },
          terms,
        ),
      read: scripts.readRenew,
    }
  }
}

export const redisReadWrite: Omit<RedisKind, 'what'> = {
  type: 'hash',
  open: (server, { clientId }) => new RedisReadWriteServer(server, clientId),
}

class RedisReadWriteLock implements RemoteReadWriteLock {
  readonly #server: KindScriptServer
  readonly #clientId: string
  readonly #rawName: string
  readonly #keys: Keys

  constructor(server: KindScriptServer, clientId: string, rawName: string) {
    this.#server = server
    this.#clientId = clientId
    this.#rawName = rawName
    this.#keys = readWriteKeys(rawName)
  }

  read(attempt: WaitingAttempt, reply: Reply<AcquireAnswer>): void {
    const { owner, leaseMs, beside, waits, isLast, callMs } = attempt
    const { prefix, six } = this.#keys
    const client = waits ? this.#clientId : ''
    const waitingMs = countsForMs(attempt)
    const asked = { owner, leaseMs, prefix, beside, client, last: isLast, waitingMs }
    this.#server.runner.run(
      {
        script: scripts.acquireRead,
        keys: six,
        args: (terms) => scripts.acquireReadArgs(asked, terms),
        read: readingOf,
        callMs,
      },
      reply,
    )
  }

  rereads({ owner, holds, leaseMs, callMs }: Reentry, reply: Reply<ReenterAnswer>): void {
    const { prefix, six } = this.#keys
    const alone = { beside: '', client: '', last: true, waitingMs: 0 }
    const asked = { owner, leaseMs, prefix, ...alone, holds }
    this.#server.runner.run(
      {
        script: scripts.acquireRead,
        keys: six,
        args: (terms) => scripts.acquireReadArgs(asked, terms),
        read: rereadingOf,
        callMs,
      },
      reply,
    )
  }

  write(attempt: WaitingAttempt, reply: Reply<AcquireAnswer | Gone>): void {
    const { owner, leaseMs, beside, waits, callMs } = attempt
    const { prefix, six } = this.#keys
    const client = waits ? this.#clientId : ''
    const asked = { owner, leaseMs, prefix, beside, client, waitingMs: countsForMs(attempt) }
    this.#server.runner.run(
      {
        script: scripts.acquireWrite,
        keys: six,
        args: (terms) => scripts.acquireWriteArgs(asked, terms),
        read: writingOf,
        callMs,
      },
      reply,
    )
  }

  rewrites({ owner, holds, token, leaseMs, callMs }: Reentry, reply: Reply<ReenterAnswer>): void {
    const { prefix, six } = this.#keys
    const alone = { beside: '', client: '', waitingMs: 0 }
    const asked = { owner, leaseMs, prefix, ...alone, holds, token }
    this.#server.runner.run(
      {
        script: scripts.acquireWrite,
        keys: six,
        args: (terms) => scripts.acquireWriteArgs(asked, terms),
        read: rewritingOf,
        callMs,
      },
      reply,
    )
  }

  lower({ owner, holds, token, callMs }: Ending, isLast: boolean, reply: Reply<Released>): void {
    const keys = this.#keys
    const client = isLast ? this.#clientId : ''
    const asked = { owner, token, prefix: keys.prefix, client, holds }
    this.#server.runner.run(
      {
        script: scripts.release,
        keys: keys.six,
        args: (terms) => scripts.releaseArgs(asked, terms, keys),
        read: scripts.readRelease,
        callMs,
        // The owner may have raised the count again meanwhile, so only a full release is repeated.
        asksAgain: holds === 0,
      },
      reply,
    )
  }

  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void {
    const pending = this.#server.pendingReleases(this.#rawName)
    pending.abandon({ key: this.#rawName, owner }, untilMs, leaseMs, (ending, reply) =>
      this.lower(ending, isLast(), reply),
    )
  }

  async forceRelease(owner: string, callMs: number): Promise<boolean> {
    const ending = { owner, holds: 0, token: '', callMs } as const
    const { kind } = await promised<Released>((reply) => this.lower(ending, false, reply))
    return kind === 'freed'
  }

  inspect(callMs: number): Promise<ReadWriteFacts> {
    const { prefix, five } = this.#keys
    return this.#server.runner.request({
      script: scripts.inspect,
      keys: five,
      args: () => scripts.inspectArgs({ prefix, most: MOST_LISTED }),
      read: readWriteFacts,
      callMs,
    })
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    return this.#server.listen(this.#keys, (message) => onHint(readWriteHint(message)))
  }
}
