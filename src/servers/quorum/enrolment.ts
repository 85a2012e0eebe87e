import { within } from '../../kit/within.ts'
import type { AcquireAnswer } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import type { ScriptServer } from '../redis/calls/script-runner.ts'
import { enrol, longestKnown, noteUse } from './delayed-restart.ts'
import { LateVote, RestingMaster } from './no-majority.ts'
import type { Forgot } from './vote-commands.ts'

/** The shortest time limit of the request that enrols a master, in milliseconds. */
const TELL_MS = 100

interface EnrolmentServer extends ScriptServer {
  readonly whyDown: CallFailure | undefined
}

interface EnrolmentPeers {
  readonly all: () => readonly EnrolmentServer[]
  /**
   * Lets the masters vote at once if none of them was ever used. Resolves to true if a new request
   * for votes may succeed.
   */
  readonly found: () => Promise<boolean>
}

/** Enrols one master: stores on the master from when it may vote, if this time is missing. */
export class Enrolment {
  readonly #node: EnrolmentServer
  readonly #longestMs: number
  readonly #peers: EnrolmentPeers
  #runId = ''

  /** @param longestMs the longest lease that this client acquires, in milliseconds */
  constructor(node: EnrolmentServer, longestMs: number, peers: EnrolmentPeers) {
    this.#node = node
    this.#longestMs = longestMs
    this.#peers = peers
  }

  /**
   * Handles the answer `forgot` to a request for a vote. Enrols the master if `sinceUs` is null,
   * and asks for the vote again. Rejects if the master may not vote yet.
   *
   * @param endsAt the deadline of the vote, on `performance.now()`
   */
  async remind(
    { sinceUs }: Forgot,
    endsAt: number,
    retry: (leftMs: number) => Promise<AcquireAnswer | Forgot>,
  ): Promise<AcquireAnswer> {
    let votesAtUs = sinceUs
    // Another client may be founding a new deployment, and may have claimed this master. So this
    // client tries to found the deployment too.
    const isFounded = await this.#peers.found()
    if (votesAtUs === null || isFounded) {
      // The master is enrolled even if this request has no time left, because the next request
      // needs the mark.
      if (votesAtUs === null) await this.#storeMark(Math.max(TELL_MS, endsAt - performance.now()))
      const leftMs = endsAt - performance.now()
      if (leftMs < 1) throw new LateVote()
      const again = await retry(leftMs)
      if (again.kind !== 'forgot') {
        this.voted()
        return again
      }
      votesAtUs = again.sinceUs
    }
    throw new RestingMaster(this.#leftMs(votesAtUs))
  }

  /**
   * Records that the master has voted. So its deployment is not new, even if the master loses its
   * data later.
   */
  voted(): void {
    noteUse(this.#node)
  }

  /**
   * Returns how many milliseconds remain until `atUs`, a server time in µs. Returns the longest
   * lease if `atUs` or the server's clock is unknown.
   */
  #leftMs(atUs: number | null): number {
    const nowUs = this.#node.runner.clockFor('').latestUs(performance.now())
    if (atUs === null || nowUs === 0) return this.#longestMs
    return Math.max(1, Math.ceil((atUs - nowUs) / 1_000))
  }

  /**
   * Called when the connection is up. If the server process is another process than before, enrols
   * the master now. Otherwise its rest (the time without votes) would begin only at the next
   * request for a vote.
   */
  anew(timeoutMs: number): void {
    const { runId } = this.#node.runner
    const known = this.#runId
    this.#runId = runId
    if (known === '' || runId === known) return
    this.#storeMark(timeoutMs).catch(() => {})
  }

  /**
   * Enrols the master with the longest lease that any master knows. An emptied master has forgotten
   * this lease, but the other masters may know it. Masters that do not answer in half of
   * `timeoutMs` are ignored.
   */
  async #storeMark(timeoutMs: number): Promise<void> {
    let longestMs = this.#longestMs
    const others = this.#peers
      .all()
      .filter((node) => node !== this.#node && node.whyDown === undefined)
    const asked = others.map(async (node) => {
      const known = await longestKnown(node, timeoutMs)
      longestMs = Math.max(longestMs, known)
    })
    const settled = within(timeoutMs / 2, Promise.allSettled(asked))
    await enrol(
      this.#node,
      settled.then(() => longestMs),
      timeoutMs,
    )
  }
}
