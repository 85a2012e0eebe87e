import {
  type AcquireFact,
  acquireTrace,
  type FactSource,
  type HoldFact,
  holdTrace,
  isTraced,
  type KeepFact,
  keepTrace,
  type LockFact,
  type ReleaseFact,
  releaseTrace,
  renewTrace,
} from '../diagnostics.ts'
import { LeaseLostError } from '../errors.ts'
import type { Clock } from '../kit/clock.ts'
import {
  type AcquisitionObservation,
  type HoldObservation,
  type KeepObservation,
  type LockObserver,
  type ObservedHold,
  type ObservedRequest,
  type ReleaseObservation,
  type RenewalObservation,
  UNOBSERVED,
} from '../lock-observer.ts'
import { PublishedAcquisition } from './published-acquisition.ts'
import { PublishedHold } from './published-hold.ts'
import { PublishedKeeping } from './published-keeping.ts'
import { PublishedRelease } from './published-release.ts'
import { PublishedRenewal } from './published-renewal.ts'

type Writable<F> = { -readonly [K in keyof F]: F[K] }

/**
 * Publishes the acquisitions, holds, releases, kept locks and renewals of a client on diagnostics
 * channels. If a channel has no subscriber when an operation begins, the observer publishes nothing
 * about this operation.
 */
export class ChannelObserver implements LockObserver {
  readonly #source: FactSource
  readonly #clock: Clock

  constructor(source: FactSource, clock: Clock) {
    this.#source = source
    this.#clock = clock
  }

  acquiring(lockName: string, request: ObservedRequest): AcquisitionObservation {
    if (!isTraced(acquireTrace)) return UNOBSERVED
    const { leaseMs, waitMs, isSingleAttempt } = request
    const fact = this.#factOf<AcquireFact>(lockName, request)
    fact.waitMs = isSingleAttempt ? 0 : waitMs
    fact.leaseMs = leaseMs
    return new PublishedAcquisition(fact)
  }

  holding(hold: ObservedHold, acquisition: AcquisitionObservation): HoldObservation {
    if (!isTraced(holdTrace)) return UNOBSERVED
    const fact = this.#factOf<HoldFact>(hold.lockName, hold)
    fact.owner = hold.id.ownerId
    fact.token = hold.token
    fact.leaseMs = hold.leaseMs
    fact.limitMs = hold.renewMs === 0 ? hold.leaseMs : hold.limitMs
    fact.acquire = acquisition instanceof PublishedAcquisition ? acquisition.fact : undefined
    const observation = new PublishedHold(fact, this.#clock)
    observation.publishStart()
    // If a subscriber has closed the client, the hold has already ended.
    const { loss } = hold
    if (loss instanceof LeaseLostError) observation.ended(loss.reason, loss)
    else if (loss !== undefined) observation.ended('closed')
    return observation
  }

  releasing(hold: ObservedHold): ReleaseObservation {
    if (!isTraced(releaseTrace)) return UNOBSERVED
    const fact = this.#factOf<ReleaseFact>(hold.lockName, hold)
    fact.owner = hold.id.ownerId
    fact.token = hold.token
    releaseTrace.start.publish(fact)
    return new PublishedRelease(fact)
  }

  keeping(hold: ObservedHold): KeepObservation {
    if (!isTraced(keepTrace)) return UNOBSERVED
    const fact = this.#factOf<KeepFact>(hold.lockName, hold)
    fact.owner = hold.id.ownerId
    fact.token = hold.token
    return new PublishedKeeping(fact, this.#clock)
  }

  renewing(holds: number, latenessMs: number): RenewalObservation {
    if (!isTraced(renewTrace)) return UNOBSERVED
    const { client, label } = this.#source
    const fact = { client, label, holds, latenessMs }
    renewTrace.start.publish(fact)
    return new PublishedRenewal(fact)
  }

  /** Creates a fact with the fields of all facts about locks. Object spread is too slow here. */
  #factOf<F extends LockFact>(name: string, { kind }: Pick<ObservedHold, 'kind'>): Writable<F> {
    const { client, label, notes } = this.#source
    return { client, label, name, kind: kind.name, notes } as Writable<F>
  }
}
