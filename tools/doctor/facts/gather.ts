import type { Where } from '../../servers/where.ts'
import { askCluster } from './ask-cluster.ts'
import { askSentinels } from './ask-sentinels.ts'
import { askServer, type Budget } from './ask-server.ts'
import type { Facts, Terms } from './facts.ts'

/**
 * Gathers the facts about all servers at the same time. All requests to one server may take
 * `budget.timeoutMs`. Never rejects.
 */
export async function gather(where: Where, terms: Terms, budget: Budget): Promise<Facts> {
  const question = { place: where.kind, terms, budget }
  const nothing = { place: where.kind, terms, sentinels: [], cluster: undefined }
  if (where.kind === 'sentinel') return { ...nothing, ...(await askSentinels(where, question)) }
  if (where.kind === 'cluster')
    return { ...nothing, ...(await askCluster(where.servers, question)) }
  const servers = await Promise.all(where.servers.map((one) => askServer(one, question)))
  return { ...nothing, servers }
}
