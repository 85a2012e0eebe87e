import type {
  AcquireAnswer,
  HandOverAnswer,
  QueueAnswer,
  ReenterAnswer,
  Released,
} from '../../src/servers/answers.ts'
import type { EndedFairHold, FairAttempt, RemoteFairLock } from '../../src/servers/fair-server.ts'
import type { RemoteLock } from '../../src/servers/lock-server.ts'
import type { Remaining } from '../../src/servers/remaining.ts'
import { promised } from '../../src/servers/reply.ts'
import type { Attempt, LoweredHold, Passing, Reentry } from '../../src/servers/requests.ts'

/** The requests of a lock to its server. Each returns a promise of the answer. */
export function verbsOf(lock: Pick<RemoteLock, 'acquire' | 'reenter' | 'handOver' | 'lower'>) {
  return {
    acquire: (attempt: Attempt) => promised<AcquireAnswer>((reply) => lock.acquire(attempt, reply)),
    reenter: (reentry: Reentry) => promised<ReenterAnswer>((reply) => lock.reenter(reentry, reply)),
    handOver: (passing: Passing) =>
      promised<HandOverAnswer>((reply) => lock.handOver(passing, reply)),
    release: (ending: LoweredHold) => promised<Released>((reply) => lock.lower(ending, reply)),
  }
}

/** The requests of a fair lock to its server. */
export function fairVerbsOf(lock: RemoteFairLock) {
  return {
    acquire: (attempt: FairAttempt) =>
      promised<QueueAnswer>((reply) => lock.acquire(attempt, reply)),
    confirm: (owner: string, leaseMs: number, callMs: number) =>
      promised<Remaining>((reply) => lock.confirm(owner, leaseMs, callMs, reply)),
    release: (
      owner: string,
      token: number | '',
      callMs: number,
      run: Pick<EndedFairHold, 'most' | 'served'> = {},
    ) =>
      promised<Released>((reply) =>
        lock.endHold({ owner, holds: 0, token, callMs, ...run }, reply),
      ),
  }
}
