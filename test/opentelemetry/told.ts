import { channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type {
  AcquireFact,
  HoldFact,
  Notes,
  OutageFact,
  ReleaseFact,
  RenewFact,
} from '../../src/index.ts'

/** The channels with the names that docs/reference/diagnostics.md states. */
export const acquireTrace = tracingChannel<unknown, AcquireFact>('holdfast:acquire')
export const holdTrace = tracingChannel<unknown, HoldFact>('holdfast:hold')
export const releaseTrace = tracingChannel<unknown, ReleaseFact>('holdfast:release')
export const renewTrace = tracingChannel<unknown, RenewFact>('holdfast:renew')
export const outageTrace = tracingChannel<unknown, OutageFact>('holdfast:outage')
export const settledChannel = channel('holdfast:settled')

/** The facts of one lock. Tests make facts by hand, because tests cannot cause some facts, or not at the right time. */
export const lock = {
  client: 'c1',
  label: 'host:1',
  name: 'order:1001',
  kind: 'lock',
  notes: undefined,
} as const

/** Notes in memory. They record what was set, and which owners were asked about. */
export class MemoryNotes implements Notes {
  readonly told: [owner: string, text: string | undefined][] = []
  readonly asked: string[] = []
  readonly #texts = new Map<string, string>()

  set(owner: string, text: string | undefined): void {
    this.told.push([owner, text])
    if (text === undefined) this.#texts.delete(owner)
    else this.#texts.set(owner, text)
  }

  async get(owner: string): Promise<string | undefined> {
    this.asked.push(owner)
    return this.#texts.get(owner)
  }
}

type Told<Fact> = (result?: Partial<Fact>) => void

function tell<Fact extends object>(channel: TracingChannel<unknown, Fact>, fact: Fact): Told<Fact> {
  channel.start.publish(fact)
  channel.end.publish(fact)
  return (result) => {
    Object.assign(fact, result)
    if ('error' in fact) channel.error.publish(fact)
    channel.asyncStart.publish(fact)
    channel.asyncEnd.publish(fact)
  }
}

export function newAcquire(fact: Partial<AcquireFact> = {}): AcquireFact {
  return { ...lock, waitMs: Number.POSITIVE_INFINITY, leaseMs: 30_000, ...fact }
}

/** @returns a function that ends the acquisition */
export const acquiring = (fact: AcquireFact = newAcquire()) => tell(acquireTrace, fact)

export const holding = (fact: Partial<HoldFact> = {}) =>
  tell(holdTrace, {
    ...lock,
    owner: 'c1:o1',
    token: 7,
    leaseMs: 30_000,
    acquire: undefined,
    ...fact,
  } as HoldFact)

export const releasing = (fact: Partial<ReleaseFact> = {}) =>
  tell(releaseTrace, { ...lock, owner: 'c1:o1', token: 7, ...fact } as ReleaseFact)

export const renewing = (fact: Partial<RenewFact> = {}) =>
  tell(renewTrace, { client: 'c1', label: 'host:1', holds: 3, latenessMs: 20, ...fact })
