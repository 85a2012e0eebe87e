import { setTimeout as pause } from 'node:timers/promises'
import type { Settings } from '../../options/settings.ts'
import type { RedisServer } from '../redis/redis-server.ts'
import { enrol, isUnused } from './delayed-restart.ts'
import { Master } from './master.ts'
import type { MasterSettings } from './master-settings.ts'
import { Quorum } from './quorum.ts'

interface QuorumSettings extends MasterSettings {
  /** Whether masters that have never been used may vote at once. */
  readonly newDeployment: boolean
}

/** What a client's options mean for its masters. */
export function quorumSettings(settings: Settings): QuorumSettings {
  const { leaseMs, commandTimeoutMs, longestLeaseMs, newDeployment, label } = settings
  const callMs = Math.min(commandTimeoutMs, Math.max(100, Math.round(leaseMs / 10)))
  return { callMs, restMs: longestLeaseMs, newDeployment, label }
}

/**
 * Independent masters as one.
 *
 * @param nameOf the raw name that a lock has on one of them; left out where it is the same on all
 */
export function quorumOf(
  nodes: readonly RedisServer[],
  settings: QuorumSettings,
  nameOf?: (lock: string, at: number) => string,
): Quorum {
  const { callMs, newDeployment } = settings
  let founding: Promise<boolean> | undefined
  const isNewDeployment = async (): Promise<boolean> => {
    if (!newDeployment) return false
    founding ??= found(nodes, settings).finally(() => {
      founding = undefined
    })
    return founding
  }
  const peers = { isNewDeployment, all: () => masters }
  const masters: Master[] = nodes.map(
    (node, i) => new Master(node, settings, peers, nameOf && ((lock) => nameOf(lock, i))),
  )
  return new Quorum(masters, callMs)
}

/** Another client that finds them unused too marks them all: that is waited for, in milliseconds. */
const OTHERS_MS = 1_000

/**
 * Lets all masters vote at once when none has ever been used. One that cannot be asked may have
 * been, and then those that were found unused have forgotten it.
 */
async function found(
  nodes: readonly RedisServer[],
  { callMs, restMs }: MasterSettings,
): Promise<boolean> {
  const startedAt = performance.now()
  for (let pauseMs = 5; performance.now() - startedAt < OTHERS_MS; pauseMs *= 2) {
    const unused = await Promise.all(nodes.map((node) => isUnused(node, callMs))).catch(
      (): boolean[] => [],
    )
    if (unused.length === 0 || !unused.includes(true)) return false
    if (!unused.includes(false)) {
      await Promise.allSettled(nodes.map((node) => enrol(node, restMs, true, callMs)))
      return true
    }
    await pause(pauseMs)
  }
  return false
}
