import { infoOf } from '../facts/names.ts'
import type { Check } from './check.ts'

/**
 * Checks if each server is of the kind that the user gave: a single server, or a node of a cluster.
 */
export const deployment: Check = {
  codes: { 'is-cluster': 'error', 'is-sentinel': 'error', 'not-a-cluster': 'error' },
  *run({ servers, deployment }) {
    for (const server of servers) {
      const at = server.address
      const mode = infoOf(server, 'redis_mode')
      const isCluster = infoOf(server, 'cluster_enabled') === '1'
      if (mode === 'sentinel') {
        yield {
          code: 'is-sentinel',
          at,
          seen: 'It is a Sentinel, but was given as a server of locks.',
          why: 'It stores no keys, so no lock can be acquired there.',
          fix: [`npx holdfast doctor --sentinel ${at} --master-name <name>`],
          numbers: {},
        }
      } else if (isCluster && deployment !== 'cluster') {
        yield {
          code: 'is-cluster',
          at,
          seen: 'It is a node of a cluster, but was given as a single server.',
          why: 'It refuses locks in slots of other nodes with MOVED. Pass `redis: { cluster: […] }` to new Holdfast.',
          fix: [`npx holdfast doctor --cluster ${at}`],
          numbers: {},
        }
      } else if (mode !== undefined && !isCluster && deployment === 'cluster') {
        yield {
          code: 'not-a-cluster',
          at,
          seen: 'It is not a node of a cluster, but was given with --cluster.',
          why: 'A Cluster of ioredis cannot connect to it.',
          fix: [`npx holdfast doctor ${at}`],
          numbers: {},
        }
      }
    }
  },
}
