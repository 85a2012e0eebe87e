import type { Settings } from '../../options/settings.ts'
import type { RedisServer } from '../redis/redis-server.ts'
import { Founding } from './founding.ts'
import { Master } from './master/master.ts'
import type { MasterSettings } from './master/master-settings.ts'
import { Quorum } from './quorum.ts'

interface QuorumSettings extends MasterSettings {
  /** True if masters that have never been used may vote at once. */
  readonly newDeployment: boolean
}

export function quorumSettings(settings: Settings): QuorumSettings {
  const { leaseMs, commandTimeoutMs, longestLeaseMs, newDeployment, label } = settings
  const callMs = Math.min(commandTimeoutMs, Math.max(100, Math.round(leaseMs / 10)))
  return { callMs, restMs: longestLeaseMs, newDeployment, label }
}

/**
 * Combines independent masters into one server.
 *
 * @param nameOf returns the raw name of a lock on master number `at`; by default the same name on
 * all masters
 */
export function quorumOf(
  nodes: readonly RedisServer[],
  settings: QuorumSettings,
  nameOf?: (lock: string, at: number) => string,
): Quorum {
  const { callMs, newDeployment } = settings
  const founding = newDeployment ? new Founding(nodes, settings) : undefined
  const found = async () => (await founding?.found()) ?? false
  const peers = { found, all: () => masters }
  const masters: Master[] = nodes.map(
    (node, i) => new Master(node, settings, peers, nameOf && ((lock) => nameOf(lock, i))),
  )
  return new Quorum(masters, callMs)
}
