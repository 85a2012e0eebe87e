import { setTimeout as pause } from 'node:timers/promises'
import type { LockNode } from './lock-node.ts'
import { Master } from './master.ts'
import { Quorum } from './quorum.ts'

export interface QuorumSettings {
  /** How long one master may take, in milliseconds. */
  readonly callMs: number
  readonly counterMs: number
  /** A master that may have forgotten does not vote for so long, in milliseconds. */
  readonly restMs: number
  /** Whether masters that have never been used may vote at once. */
  readonly newDeployment: boolean
}

/** Independent masters as one. */
export function quorumOf(
  nodes: readonly { node: LockNode; label: string }[],
  settings: QuorumSettings,
): Quorum {
  const { callMs, newDeployment } = settings
  let founding: Promise<boolean> | undefined
  const isNewDeployment = async (): Promise<boolean> => {
    if (!newDeployment) return false
    founding ??= found(masters, callMs).finally(() => {
      founding = undefined
    })
    return founding
  }
  const masters: Master[] = nodes.map(
    ({ node, label }) => new Master(node, label, settings, isNewDeployment),
  )
  return new Quorum(masters, callMs)
}

/** Another client that finds them unused too marks them all: that is waited for, in milliseconds. */
const OTHERS_MS = 1_000

/**
 * Lets all masters vote at once when none has ever been used. One that cannot be asked may have
 * been, and then those that were found unused have forgotten it.
 */
async function found(masters: readonly Master[], callMs: number): Promise<boolean> {
  const startedAt = performance.now()
  for (let pauseMs = 5; performance.now() - startedAt < OTHERS_MS; pauseMs *= 2) {
    const unused = await Promise.all(masters.map((master) => master.isUnused(callMs))).catch(
      (): boolean[] => [],
    )
    if (unused.length === 0 || !unused.includes(true)) return false
    if (!unused.includes(false)) {
      await Promise.allSettled(masters.map((master) => master.enrol(true, callMs)))
      return true
    }
    await pause(pauseMs)
  }
  return false
}
