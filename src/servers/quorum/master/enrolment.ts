import { within } from '../../../kit/within.ts'
import type { AcquireAnswer } from '../../answers.ts'
import type { CallFailure } from '../../call-failure.ts'
import type { ScriptServer } from '../../redis/calls/script-runner.ts'
import { enrol, longestKnown, noteUse } from './delayed-restart.ts'
import { LateVote, RestingMaster } from './no-vote.ts'
import type { Forgot } from './vote-commands.ts'

/** The least time limit of the request that enrols a master, in milliseconds. */
const TELL_MS = 100

interface EnrolmentServer extends ScriptServer {
  readonly whyDown: CallFailure | undefined
}

interface EnrolmentPeers {
  readonly all: () => readonly EnrolmentServer[]
  /**
   * Lets the masters vote at once if none of them was ever used. Resolves to true if the caller
   * should request the vote again.
   */
  readonly found: () => Promise<boolean>
}

/** Enrols one master: stores in the master from when the master may vote. */
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
   * Called when the master answered `forgot`. If `sinceUs` is null, enrols the master. Asks for the
   * vote again after an enrolment or a founding. Rejects if the master may not vote yet, or if no
   * time is left.
   *
   * @param endsAt the deadline of the vote, on `performance.now()`
   */
  async onForgotten(
    { sinceUs }: Forgot,
    endsAt: number,
    retry: (leftMs: number) => Promise<AcquireAnswer | Forgot>,
  ): Promise<AcquireAnswer> {
    let votesAtUs = sinceUs
    // This client tries to found the deployment too, because another client may have claimed this
    // master for a new deployment.
    const isFounded = await this.#peers.found()
    if (votesAtUs === null || isFounded) {
      // Enrols the master even if this request has no time left, because the next request needs the
      // mark.
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
   * Records that the master has voted. From then on, this process does not count the deployment as
   * new.
   */
  voted(): void {
    noteUse(this.#node)
  }

  /**
   * Returns the time until `atUs`, in milliseconds. `atUs` is a server time in µs. Returns the
   * longest lease if `atUs` or the server time is unknown.
   */
  #leftMs(atUs: number | null): number {
    const nowUs = this.#node.runner.clockFor('').latestUs(performance.now())
    if (atUs === null || nowUs === 0) return this.#longestMs
    return Math.max(1, Math.ceil((atUs - nowUs) / 1_000))
  }

  /**
   * Called when the connection is up. If the server has restarted, enrols the master at once. So
   * the time until the master votes begins now, and not at the next request for a vote.
   */
  onConnected(timeoutMs: number): void {
    const { runId } = this.#node.runner
    const known = this.#runId
    this.#runId = runId
    if (known === '' || runId === known) return
    this.#storeMark(timeoutMs).catch(() => {})
  }

  /**
   * Enrols the master with the longest lease that any master knows, because an emptied master has
   * forgotten this lease. Ignores masters that do not answer within half of `timeoutMs`.
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
