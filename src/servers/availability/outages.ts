import { outsideContexts } from '../../kit/outside-contexts.ts'
import type { CallFailure } from '../call-failure.ts'
import type { ServerWords } from '../server-words.ts'
import type { ConnectionEvents } from './connection-events.ts'
import type { OutageListener } from './outage.ts'

/**
 * The pause before an outage is reported again, in milliseconds. It doubles each time, up to
 * `longest`.
 */
const REMINDER_MS = { first: 5_000, longest: 300_000 }

/** For how long a server must be reachable to count as recovered, in milliseconds. */
const PROVEN_MS = { least: 1_000, most: 60_000 }

/**
 * If an outage begins within this many milliseconds after the last recovery, it counts as the same
 * problem.
 */
const SAME_TROUBLE_MS = 60_000

/** The client remembers the last recovery of this many servers. */
const MOST_REMEMBERED = 100

interface Ongoing {
  readonly since: number
  /**
   * The connections that fail now. When the set becomes empty, the outage ends if the server stays
   * reachable for a while.
   */
  readonly failing: Set<object>
  attempts: number
  failure: CallFailure
  remindAt: number
  remindInMs: number
  upAt: number
  proof: NodeJS.Timeout | undefined
}

/**
 * Reports the outages of one server, or of each node of a cluster, for all connections of a client.
 * Reports an outage when it begins, again at growing intervals, and when it ends.
 */
export class Outages {
  readonly #address: string
  readonly #words: ServerWords
  readonly #listener: OutageListener
  readonly #ongoing = new Map<string, Ongoing>()
  #isClosed = false
  /** The last recovery of each address: its time, and how long the server had to be reachable before. */
  readonly #recovered = new Map<string, { readonly at: number; readonly provenMs: number }>()

  /** @param address the address of the server, or the name of the cluster */
  constructor(address: string, words: ServerWords, listener: OutageListener) {
    this.#address = address
    this.#words = words
    this.#listener = listener
  }

  /** Wraps the events of a connection, so that this object receives them first. */
  watch<D>(events: ConnectionEvents<D>): Required<ConnectionEvents<D>> {
    // This object stands for the connection in `failing`.
    const source = {}
    return {
      ...events,
      up: (facts) => {
        this.#up(source, this.#address)
        events.up(facts)
      },
      moved: () => events.moved?.(),
      error: (failure) => {
        this.#failed(source, this.#address, failure)
        events.error(failure)
      },
      answered: () => this.#up(source, this.#address),
      nodeFailed: (address, failure) => this.#failed(source, address, failure),
      nodeUp: (address) => this.#up(source, address),
      nodesListed: (addresses) => {
        for (const [address, { failing }] of this.#ongoing) {
          const isNode = address !== this.#address && failing.has(source)
          if (isNode && !addresses.has(address)) this.#up(source, address)
        }
      },
    }
  }

  /** Ends all outages, because the client is closed. */
  endAll(): void {
    this.#isClosed = true
    for (const [address, one] of [...this.#ongoing]) this.#finish(address, one, 'closed')
  }

  #failed(source: object, address: string, failure: CallFailure): void {
    if (this.#isClosed) return
    const now = performance.now()
    const known = this.#ongoing.get(address)
    const one = known ?? newOutage(now, failure)
    clearTimeout(one.proof)
    one.failing.add(source)
    one.attempts += 1
    one.failure = failure
    if (known === undefined) {
      this.#ongoing.set(address, one)
      this.#listener.outageBegan(this.#event(address, one, now))
    } else if (now >= one.remindAt) {
      one.remindInMs = Math.min(2 * one.remindInMs, REMINDER_MS.longest)
      one.remindAt = now + one.remindInMs
      this.#listener.outageGoesOn(this.#event(address, one, now))
    }
  }

  #up(source: object, address: string): void {
    const one = this.#ongoing.get(address)
    if (!one?.failing.delete(source) || one.failing.size > 0) return
    one.upAt = performance.now()
    const provenMs = this.#provenMs(address, one)
    const recovered = () => {
      this.#remember(address, provenMs)
      this.#finish(address, one, 'recovered')
    }
    one.proof = outsideContexts(() => setTimeout(recovered, provenMs)).unref()
  }

  #finish(address: string, one: Ongoing, how: 'recovered' | 'closed'): void {
    clearTimeout(one.proof)
    this.#ongoing.delete(address)
    const endedAt = how === 'recovered' ? one.upAt : performance.now()
    this.#listener.outageEnded(this.#event(address, one, endedAt), how)
  }

  /**
   * Returns how long the server must be reachable until the outage is over, in milliseconds. This
   * time doubles for a server that fails again and again, so that the client reports only one
   * outage.
   */
  #provenMs(address: string, { since }: Ongoing): number {
    const last = this.#recovered.get(address)
    if (last === undefined || since - last.at > SAME_TROUBLE_MS) return PROVEN_MS.least
    return Math.min(2 * last.provenMs, PROVEN_MS.most)
  }

  #remember(address: string, provenMs: number): void {
    this.#recovered.delete(address)
    this.#recovered.set(address, { at: performance.now(), provenMs })
    const [oldest] = this.#recovered.keys()
    if (this.#recovered.size > MOST_REMEMBERED && oldest !== undefined)
      this.#recovered.delete(oldest)
  }

  #event(address: string, { since, attempts, failure }: Ongoing, at: number) {
    return { address, words: this.#words, failure, durationMs: Math.round(at - since), attempts }
  }
}

function newOutage(now: number, failure: CallFailure): Ongoing {
  return {
    since: now,
    failing: new Set(),
    attempts: 0,
    failure,
    remindAt: now + REMINDER_MS.first,
    remindInMs: REMINDER_MS.first,
    upAt: now,
    proof: undefined,
  }
}
