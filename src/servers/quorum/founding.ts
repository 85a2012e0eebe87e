import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../../kit/within.ts'
import { BIRTH } from '../redis/calls/keys.ts'
import type { ScriptServer } from '../redis/calls/script-runner.ts'
import * as quorum from '../redis/scripts/quorum.generated.ts'
import {
  isDurable,
  isUsed,
  type MarkState,
  noteUse,
  stateOfMark,
} from './master/delayed-restart.ts'
import type { MasterSettings } from './master/master-settings.ts'

/**
 * For how long this client tries to found the deployment, in milliseconds. Another client may found
 * it meanwhile.
 */
const OTHERS_MS = 1_000

/** The pause before a failed request is sent again, in milliseconds. */
const AGAIN_MS = 20

interface FoundingServer extends ScriptServer {
  /** Resolves when the first attempt to connect has succeeded or failed. */
  readonly known: Promise<void>
}

interface Claim {
  readonly node: ScriptServer
  readonly sinceUs: number
  readonly deployment: string
  readonly restMs: number
}

/**
 * Lets masters that have never been used vote at once: all of them, or none. The client first
 * claims each master for one deployment. When all masters are claimed, the client lets the first
 * master vote, and then the others.
 *
 * If one master gives no answer, or already has a mark that is not a claim, no master votes at once.
 * If a master loses its data meanwhile, it loses its claim.
 */
export class Founding {
  readonly #nodes: readonly FoundingServer[]
  readonly #settings: MasterSettings
  #running: Promise<boolean> | undefined

  constructor(nodes: readonly FoundingServer[], settings: MasterSettings) {
    this.#nodes = nodes
    this.#settings = settings
  }

  /**
   * Tries to let all masters vote at once. Never rejects.
   *
   * @returns true if the caller should request votes again; false if this process already knew that
   * one of the masters was used before
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
      // Founds nothing if a master does not answer, because this master may have a mark.
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

  /** @returns true if this client has founded the deployment */
  async #foundOnce(): Promise<boolean> {
    const { callMs, restMs } = this.#settings
    // All clients sort the masters in the same order, so they all claim the same master first.
    const [first, ...others] = [...this.#nodes].sort((a, b) =>
      a.runner.runId < b.runner.runId ? -1 : 1,
    ) as [FoundingServer, ...FoundingServer[]]
    const start = await this.#claim(first, '', restMs)
    if (start === null) return false
    const longestMs = Math.max(restMs, start.restMs)
    const claims = await Promise.all(
      others.map((node) => this.#claim(node, start.deployment, longestMs)),
    )
    const founder = randomUUID()
    const letVote = ({ node, sinceUs, deployment }: Claim) =>
      untilAnswered(() => {
        const given = { sinceUs, deployment, founder, restMs: longestMs }
        return node.runner.request(quorum.found, { birth: BIRTH }, given, callMs)
      })
    if (claims.includes(null) || !(await letVote(start))) return false
    await Promise.allSettled((claims as Claim[]).map(letVote))
    return true
  }

  /** @returns null if the master may have voted, or is claimed for another deployment */
  async #claim(node: ScriptServer, deployment: string, restMs: number): Promise<Claim | null> {
    const { callMs } = this.#settings
    const durable = await isDurable(node, callMs)
    const given = () => ({ restMs, durable, draft: randomUUID(), deployment })
    const answer = await node.runner.request(quorum.claim, { birth: BIRTH }, given, callMs)
    return answer.kind === 'claimed' ? { node, ...answer } : null
  }
}

/**
 * Repeats the request until the master answers. A repeated request has no further effect. Rejects
 * after `OTHERS_MS`.
 */
async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  const endsAt = performance.now() + OTHERS_MS
  for (;;) {
    try {
      return await call()
    } catch (failure) {
      if (performance.now() > endsAt) throw failure
      await pause(AGAIN_MS)
    }
  }
}
