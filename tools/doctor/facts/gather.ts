import type { Where } from '../../servers/where.ts'
import type { ClientTerms, DeploymentFacts } from './facts.ts'
import { readCluster } from './read-cluster.ts'
import { readSentinels } from './read-sentinels.ts'
import { type Budget, readServer } from './read-server.ts'

/**
 * Gathers the facts about all servers, mostly at the same time. All requests over one connection
 * together may take `budget.timeoutMs`. Never rejects.
 */
export async function gather(
  where: Where,
  terms: ClientTerms,
  budget: Budget,
): Promise<DeploymentFacts> {
  const question = { deployment: where.kind, terms, budget }
  const nothing = { deployment: where.kind, terms, sentinels: [], cluster: undefined }
  if (where.kind === 'sentinel') return { ...nothing, ...(await readSentinels(where, question)) }
  if (where.kind === 'cluster')
    return { ...nothing, ...(await readCluster(where.servers, question)) }
  const servers = await Promise.all(where.servers.map((one) => readServer(one, question)))
  return { ...nothing, servers }
}
