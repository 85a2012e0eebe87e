import type { AcquireAnswer, Gone, ReenterAnswer, Released } from '../../answers.ts'
import { MOST_LISTED } from '../../facts.ts'
import { type Hint, MISSED, TURN_OF_READERS } from '../../hint.ts'
import { type LockSide, sideId } from '../../owner-id.ts'
import {
  READ_WRITE,
  type ReadWriteServer,
  type ReadWriteState,
  type RemoteReadWriteLock,
  type WaitingAttempt,
} from '../../read-write-server.ts'
import { promised, type Reply } from '../../reply.ts'
import { type LoweredHold, type Reentry, wholeRelease } from '../../requests.ts'
import type { Subscription } from '../../subscription.ts'
import { countsForMs, WAITING_MS } from '../../waiting-time.ts'
import { lockAndCounter } from '../calls/keys.ts'
import { KindServer } from '../calls/kind-server.ts'
import type { RedisKind } from '../calls/redis-kind.ts'
import type { KindScriptServer, Renewing } from '../calls/renew.ts'
import { readWriteKeys } from '../key-names/read-write.ts'
import { renew } from '../scripts/read-write.generated.ts'
import * as readWrite from './read-write-bindings.ts'

/**
 * The hints of messages. `0` and `1` of Redisson wake all waiters. Holdfast sends `00` or `01`, and
 * then wakes only the next waiters by another message.
 */
const HINTS = new Map<string, Hint>([
  ['0', { kind: 'released', by: 'reader', isForAll: true }],
  ['1', { kind: 'released', by: 'writer', isForAll: true }],
  ['00', { kind: 'released', by: 'reader', isForAll: false }],
  ['01', { kind: 'released', by: 'writer', isForAll: false }],
  ['2', TURN_OF_READERS],
])

class RedisReadWriteServer extends KindServer implements ReadWriteServer {
  readonly ownerId = sideId

  lock(rawName: string): RemoteReadWriteLock {
    return new RedisReadWriteLock(this.server, this.clientId, rawName)
  }

  protected renewing(leaseMs: number): Renewing {
    const argsOf: Renewing['binding']['argsOf'] = (leases, terms, names) => {
      const holds = leases.map(({ rawName, ownerId }) => ({
        owner: ownerId,
        prefix: readWriteKeys(rawName).prefix,
      }))
      return renew.argsOf({ leaseMs, holds }, terms, names)
    }
    return { binding: { ...renew, argsOf }, keysOf: lockAndCounter }
  }
}

export const redisReadWrite: RedisKind = {
  kind: READ_WRITE,
  type: 'hash',
  open: (server, { clientId }) => new RedisReadWriteServer(server, clientId),
}

class RedisReadWriteLock implements RemoteReadWriteLock {
  readonly #server: KindScriptServer
  readonly #clientId: string
  readonly #rawName: string
  readonly #keys: ReturnType<typeof readWriteKeys>

  constructor(server: KindScriptServer, clientId: string, rawName: string) {
    this.#server = server
    this.#clientId = clientId
    this.#rawName = rawName
    this.#keys = readWriteKeys(rawName)
  }

  read(attempt: WaitingAttempt, reply: Reply<AcquireAnswer>): void {
    const { owner, leaseMs, beside, waits, isLast, callMs } = attempt
    const client = waits ? this.#clientId : ''
    const waitingMs = countsForMs(attempt)
    const given = { owner, leaseMs, beside, client, last: isLast, waitingMs }
    this.#server.runner.run(readWrite.acquireRead, this.#keys, given, callMs, reply)
  }

  rereads({ owner, holds, leaseMs, callMs }: Reentry, reply: Reply<ReenterAnswer>): void {
    const alone = { beside: '', client: '', last: true, waitingMs: 0 }
    const given = { owner, leaseMs, ...alone, holds }
    this.#server.runner.run(readWrite.readAgain, this.#keys, given, callMs, reply)
  }

  write(attempt: WaitingAttempt, reply: Reply<AcquireAnswer | Gone>): void {
    const { owner, leaseMs, beside, waits, callMs } = attempt
    const client = waits ? this.#clientId : ''
    const given = { owner, leaseMs, beside, client, waitingMs: countsForMs(attempt) }
    this.#server.runner.run(readWrite.acquireWrite, this.#keys, given, callMs, reply)
  }

  rewrites({ owner, holds, token, leaseMs, callMs }: Reentry, reply: Reply<ReenterAnswer>): void {
    const alone = { beside: '', client: '', waitingMs: 0 }
    const given = { owner, leaseMs, ...alone, holds, token }
    this.#server.runner.run(readWrite.writeAgain, this.#keys, given, callMs, reply)
  }

  lower(
    { owner, holds, token, listens, callMs }: LoweredHold,
    isLast: boolean,
    reply: Reply<Released>,
  ): void {
    const { runner } = this.#server
    const binding = holds > 0 ? readWrite.lower : readWrite.free(runner.ownListeners(listens))
    const given = { owner, token, client: isLast ? this.#clientId : '', holds }
    runner.run(binding, this.#keys, given, callMs, reply)
  }

  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void {
    const pending = this.#server.pendingReleases(this.#rawName)
    pending.abandon({ rawName: this.#rawName, owner }, untilMs, leaseMs, (ending, reply) =>
      this.lower(ending, isLast(), reply),
    )
  }

  stopWaiting(side: LockSide, isLast: () => boolean): void {
    // This owner id has no client in it, so no hold has this id. The call removes only the client's
    // place in the queue.
    this.abandon(sideId('', side), 0, WAITING_MS, isLast)
  }

  async forceRelease(owner: string, callMs: number): Promise<boolean> {
    const ending = wholeRelease(owner, callMs)
    const { kind } = await promised<Released>((reply) => this.lower(ending, false, reply))
    return kind === 'freed'
  }

  inspect(callMs: number): Promise<ReadWriteState> {
    return this.#server.runner.request(readWrite.inspect, this.#keys, { most: MOST_LISTED }, callMs)
  }

  listen(onHint: (hint: Hint) => void): Subscription {
    return this.#server.listen(this.#keys, (message) => onHint(hintIn(message)))
  }
}

/** Returns the hint in a message on the channel of a read-write lock. */
function hintIn(message?: string): Hint {
  if (message === undefined) return MISSED
  return HINTS.get(message) ?? { kind: 'turn', of: message }
}
