import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../../kit/within.ts'
import { BIRTH } from '../redis/calls/keys.ts'
import type { ScriptServer } from '../redis/calls/script-runner.ts'
import * as quorum from '../redis/scripts/quorum.generated.ts'
import { isDurable, isUsed, type MarkState, noteUse, stateOfMark } from './delayed-restart.ts'
import type { MasterSettings } from './master-settings.ts'

/** Another client may be founding the same deployment: that is waited for, in milliseconds. */
const OTHERS_MS = 1_000

/** A request whose answer was lost is sent again after so long, in milliseconds. */
const AGAIN_MS = 20

interface Server extends ScriptServer {
  /** Ends when the first connection is up, or has failed. */
  readonly known: Promise<void>
}

interface Claim {
  readonly node: ScriptServer
  readonly sinceUs: number
  readonly deployment: string
  readonly restMs: number
}

/**
 * Lets masters vote at once that have never been used: all of them, or none.
 *
 * First each is claimed, which only one without a mark can be. A claim does not let it vote. When all are claimed for
 * one deployment, the first master lets one client found it, and that client lets the others vote. A master that is
 * emptied at any time in between has lost its claim, and rests. So does each of them if one has a mark already, or
 * cannot be asked.
 */
export class Founding {
  readonly #nodes: readonly Server[]
  readonly #settings: MasterSettings
  #running: Promise<boolean> | undefined

  constructor(nodes: readonly Server[], settings: MasterSettings) {
    this.#nodes = nodes
    this.#settings = settings
  }

  /**
   * Ends when all vote, or when this client cannot make them vote. Never rejects.
   *
   * @returns whether masters may vote by now that did not before
   */
  found(): Promise<boolean> {
    if (this.#nodes.some(isUsed)) return Promise.resolve(false)
    this.#running ??= this.#foundOrWait()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        this.#running = undefined
      })
    return this.#running
  }

  async #foundOrWait(): Promise<void> {
    const { callMs } = this.#settings
    await within(2 * callMs, Promise.all(this.#nodes.map(({ known }) => known))).catch(() => {})
    const startedAt = performance.now()
    for (let pauseMs = 5; performance.now() - startedAt < OTHERS_MS; pauseMs *= 2) {
      // One that does not answer now may have a mark.
      const states = await this.#states().catch((): MarkState[] => [])
      const marked = this.#nodes.filter((_, i) => states[i] === 'known')
      for (const node of marked) noteUse(node)
      if (marked.length > 0 && !states.includes('claimed')) return
      const mayFound = states.length > 0 && marked.length === 0
      if (mayFound && (await this.#foundOnce().catch(() => false))) return
      await pause(pauseMs)
    }
  }

  #states() {
    return Promise.all(this.#nodes.map((node) => stateOfMark(node, this.#settings.callMs)))
  }

  /** @returns whether this client has founded it */
  async #foundOnce(): Promise<boolean> {
    const { callMs, restMs } = this.#settings
    // In the same order for all clients: so those that found at once claim the same master first.
    const [first, ...others] = [...this.#nodes].sort((a, b) =>
      a.runner.runId < b.runner.runId ? -1 : 1,
    ) as [Server, ...Server[]]
    const start = await this.#claim(first, '', restMs)
    if (start === null) return false
    const longestMs = Math.max(restMs, start.restMs)
    const claims = await Promise.all(
      others.map((node) => this.#claim(node, start.deployment, longestMs)),
    )
    const founder = randomUUID()
    const letVote = ({ node, sinceUs, deployment }: Claim) =>
      untilAnswered(() =>
        node.runner.ask({
          script: quorum.found,
          keys: [BIRTH],
          args: () => quorum.foundArgs({ sinceUs, deployment, founder, restMs: longestMs }),
          read: quorum.readFound,
          callMs,
        }),
      )
    if (claims.includes(null) || !(await letVote(start))) return false
    await Promise.allSettled((claims as Claim[]).map(letVote))
    return true
  }

  /** @returns null if it may have voted, or is claimed for another deployment */
  async #claim(node: ScriptServer, deployment: string, restMs: number): Promise<Claim | null> {
    const { callMs } = this.#settings
    const durable = await isDurable(node, callMs)
    const answer = await node.runner.ask({
      script: quorum.claim,
      keys: [BIRTH],
      args: (terms) =>
        quorum.claimArgs({ restMs, durable, draft: randomUUID(), deployment }, terms),
      read: quorum.readClaim,
      callMs,
    })
    return answer.kind === 'claimed' ? { node, ...answer } : null
  }
}

/** Asks again where the answer was lost: a repeat changes nothing, and the others wait for it. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  const endsAt = performance.now() + OTHERS_MS
  for (;;) {
    try {
      return await ask()
    } catch (failure) {
      if (performance.now() > endsAt) throw failure
      await pause(AGAIN_MS)
    }
  }
}
