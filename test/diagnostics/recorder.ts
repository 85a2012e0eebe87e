import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { AcquireFact, HoldFact, ReleaseFact, RenewFact, SettledFact } from '../../src/index.ts'

/** The facts of each channel, by their names. */
interface Facts {
  acquire: AcquireFact
  hold: HoldFact
  release: ReleaseFact
  renew: RenewFact
}

const steps = ['start', 'end', 'error', 'asyncStart', 'asyncEnd'] as const

/** Records the facts from now on. */
export class Recorder {
  /** The published steps of each fact, in order. */
  readonly steps = new Map<object, string[]>()
  readonly settled: SettledFact[] = []
  /** The acquire facts of each call of `as`. */
  readonly #callers = new AsyncLocalStorage<AcquireFact[]>()
  readonly #facts: { [K in keyof Facts]: Facts[K][] } = {
    acquire: [],
    hold: [],
    release: [],
    renew: [],
  }
  readonly #ends: (() => void)[] = []

  constructor() {
    for (const channel of Object.keys(this.#facts) as (keyof Facts)[]) {
      for (const step of steps) {
        this.#on(`tracing:holdfast:${channel}:${step}`, (fact) => this.#told(channel, step, fact))
      }
    }
    this.#on('holdfast:settled', (fact) => this.settled.push(fact as SettledFact))
  }

  of<K extends keyof Facts>(channel: K): readonly Facts[K][] {
    return this.#facts[channel]
  }

  /** The facts that have not ended. */
  get open(): object[] {
    return [...this.steps].filter(([, told]) => !told.includes('asyncEnd')).map(([fact]) => fact)
  }

  /** Runs the call, and returns the acquire facts that this call makes. */
  as<T>(call: () => T): { result: T; facts: readonly AcquireFact[] } {
    const facts: AcquireFact[] = []
    return { result: this.#callers.run(facts, call), facts }
  }

  stop(): void {
    for (const end of this.#ends.splice(0)) end()
  }

  #told(channel: keyof Facts, step: string, fact: object): void {
    const told = this.steps.get(fact)
    if (told !== undefined) {
      told.push(step)
      return
    }
    this.steps.set(fact, [step])
    this.#facts[channel].push(fact as never)
    if (channel === 'acquire') this.#callers.getStore()?.push(fact as AcquireFact)
  }

  #on(name: string, hear: (fact: object) => void): void {
    const listener = (fact: unknown) => hear(fact as object)
    subscribe(name, listener)
    this.#ends.push(() => void unsubscribe(name, listener))
  }
}

/** The facts with wrong steps: each fact must begin once and end once. */
export function wrongSteps({ steps }: Recorder): string[] {
  const right = /^start (end )?(error )?asyncStart asyncEnd( end)?$/
  return [...steps.values()].map((told) => told.join(' ')).filter((told) => !right.test(told))
}
