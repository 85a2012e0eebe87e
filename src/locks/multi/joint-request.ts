import type { Owner } from '../../owner/owner.ts'
import type { AcquireAnswer } from '../../servers/answers.ts'
import type { CallFailure } from '../../servers/call-failure.ts'
import type { LockServer } from '../../servers/lock-server.ts'
import type { Reply } from '../../servers/reply.ts'
import type { Attempt } from '../../servers/requests.ts'
import type { AcquireSender } from '../../waiting/waiter.ts'
import type { OneLock } from '../lock/one-lock.ts'

export interface WantedLock {
  readonly lock: OneLock
  readonly owner: Owner
}

interface JointAttempt {
  readonly attempt: Attempt
  readonly reply: Reply<AcquireAnswer>
}

type JointServer = Required<Pick<LockServer, 'acquireAll'>>

/**
 * One request for several locks of one server and slot: all or none. Each local lock calls
 * `acquire` as for a request of its own. The joint request is sent when each lock has called
 * `acquire` or is done. Nothing is sent if a lock is done but was not acquired.
 *
 * The time limit begins when the request is sent, because after a failure the locks may call
 * `acquire` at different moments.
 */
export class JointRequest {
  readonly #server: JointServer
  readonly #rawNames: readonly string[]
  readonly #asking = new Map<number, JointAttempt>()
  readonly #done = new Set<number>()
  #failed = false
  /**
   * The index of the lock that another owner holds, according to the answer. Undefined if there is
   * no such lock.
   */
  busy: number | undefined

  constructor(server: JointServer, rawNames: readonly string[]) {
    this.#server = server
    this.#rawNames = rawNames
  }

  /** Returns the object through which the lock with index `n` sends its request. */
  as(n: number): AcquireSender {
    return {
      acquire: (attempt, reply) => {
        this.#asking.set(n, { attempt, reply })
        this.#sendWhenComplete()
      },
    }
  }

  /**
   * Called when the lock with index `n` sends no further request. `hasLock` is true if the lock was
   * acquired.
   */
  done(n: number, hasLock: boolean): void {
    this.#done.add(n)
    this.#failed ||= !hasLock
    this.#asking.get(n)?.reply.answered(NOT_ASKED)
    this.#asking.delete(n)
    this.#sendWhenComplete()
  }

  #sendWhenComplete(): void {
    if (this.#asking.size === 0 || this.#asking.size + this.#done.size < this.#rawNames.length)
      return
    const all = [...this.#asking]
    this.#asking.clear()
    if (!this.#failed) void this.#send(all)
    else queueMicrotask(() => all.map(([, { reply }]) => reply.answered(NOT_ASKED)))
  }

  async #send(all: readonly [number, JointAttempt][]): Promise<void> {
    const callMs = Math.min(...all.map(([, { attempt }]) => attempt.callMs))
    const leaseMs = Math.max(...all.map(([, { attempt }]) => attempt.leaseMs))
    const locks = all.map(([n, { attempt }]) => ({
      rawName: this.#rawNames[n] as string,
      owner: attempt.owner,
    }))
    try {
      const grant = await this.#server.acquireAll(locks, leaseMs, callMs)
      if (grant.kind === 'held') this.busy = all[grant.index]?.[0]
      for (const [n, { reply }] of all) {
        reply.answered(grant.kind === 'granted' || n === this.busy ? grant : { ...grant, isOther })
      }
    } catch (failure) {
      for (const [, { reply }] of all) reply.failed(failure as CallFailure)
    }
  }
}

/**
 * Marks the answer for a lock that may be free. The lock was not acquired, because another lock of
 * the request was held, or because the request was not sent.
 */
const isOther = true
const NOT_ASKED = { kind: 'held', ttlMs: 0, unasked: true, isOther } as const

/**
 * Groups neighboring locks that one joint request can acquire. Each other lock is a group of its
 * own.
 */
export function groupsOf(wanted: readonly WantedLock[]): WantedLock[][] {
  const groups: WantedLock[][] = []
  for (const one of wanted) {
    const last = groups.at(-1)
    if (last !== undefined && belongTogether(last[0] as WantedLock, one)) last.push(one)
    else groups.push([one])
  }
  return groups
}

function belongTogether({ lock: a }: WantedLock, { lock: b }: WantedLock): boolean {
  const { server } = a.registry
  if (a.registry !== b.registry || a.kind !== b.kind || server.acquireAll === undefined)
    return false
  if (a.kind.newVerbs !== undefined) return false
  return server.groups([a, b]).length === 1
}
