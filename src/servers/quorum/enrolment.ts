import { within } from '../../kit/within.ts'
import type { AcquireAnswer } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import type { ScriptServer } from '../redis/calls/script-runner.ts'
import type { Forgot } from '../redis/replies.ts'
import { enrol, longestKnown, noteUse } from './delayed-restart.ts'

/** The reason why a master does not vote yet. */
const mayHaveForgotten = (leftMs: number) =>
  'it restarted, was emptied or was a replica recently, and may have lost leases: it votes in about ' +
  `${leftMs} ms`

/** The request that stores from when a master may vote has at least this time, in milliseconds. */
const TELL_MS = 100

interface Server extends ScriptServer {
  readonly whyDown: CallFailure | undefined
}

interface Peers {
  readonly all: () => readonly Server[]
  /**
   * Lets all masters vote at once if they are a new deployment. Resolves to true if they were
   * founded, or may have been.
   */
  readonly found: () => Promise<boolean>
}

/** Stores on one master from when it may vote, if the master has no record of that. */
export class Enrolment {
  readonly #node: Server
  readonly #longestMs: number
  readonly #peers: Peers
  #runId = ''

  /** @param longestMs the longest lease that this client acquires, in milliseconds */
  constructor(node: Server, longestMs: number, peers: Peers) {
    this.#node = node
    this.#longestMs = longestMs
    this.#peers = peers
  }

  /**
   * If the master has no record of the time from which it may vote, stores one and asks for its
   * vote again. Rejects if that time is still in the future.
   */
  async remind(
    { sinceUs }: Forgot,
    endsAt: number,
    askAgain: (leftMs: number) => Promise<AcquireAnswer | Forgot>,
  ): Promise<AcquireAnswer> {
    let votesAtUs = sinceUs
    // A master that rests may be claimed for a deployment that another client is founding.
    const isFounded = await this.#peers.found()
    if (votesAtUs === null || isFounded) {
      // The mark serves the next request, even when it comes too late for this one.
      if (votesAtUs === null) await this.#tell(Math.max(TELL_MS, endsAt - performance.now()))
      const leftMs = endsAt - performance.now()
      if (leftMs < 1) throw new CallFailure('unsent', 'it has only just learned when it may vote')
      const again = await askAgain(leftMs)
      if (again.kind !== 'forgot') return this.voted(again)
      votesAtUs = again.sinceUs
    }
    throw new CallFailure('unsent', mayHaveForgotten(this.#leftMs(votesAtUs)))
  }

  /** The master has voted, so its deployment is not new, even if its data is lost later. */
  voted<A>(answer: A): A {
    noteUse(this.#node)
    return answer
  }

  /** The time until `atUs` in milliseconds; the longest lease if the time is unknown. */
  #leftMs(atUs: number | null): number {
    const nowUs = this.#node.runner.clockFor('').latestUs(performance.now())
    if (atUs === null || nowUs === 0) return this.#longestMs
    return Math.max(1, Math.ceil((atUs - nowUs) / 1_000))
  }

  /**
   * If the master has restarted, starts its rest (the time without votes) now, instead of at the
   * next request for its vote.
   */
  anew(timeoutMs: number): void {
    const { runId } = this.#node.runner
    const known = this.#runId
    this.#runId = runId
    if (known === '' || runId === known) return
    this.#tell(timeoutMs).catch(() => {})
  }

  /**
   * Stores from when the master may vote: after the longest lease that any master knows. An emptied
   * master has forgotten that lease, but the other masters may know it. Masters that do not answer
   * in half of the time are left out.
   */
  async #tell(timeoutMs: number): Promise<void> {
    let longestMs = this.#longestMs
    const others = this.#peers
      .all()
      .filter((node) => node !== this.#node && node.whyDown === undefined)
    const asked = others.map(async (node) => {
      const known = await longestKnown(node, timeoutMs)
      longestMs = Math.max(longestMs, known)
    })
    const told = within(timeoutMs / 2, Promise.allSettled(asked))
    await enrol(
      this.#node,
      told.then(() => longestMs),
      timeoutMs,
    )
  }
}
