import { Cluster, type ClusterNode, type ClusterOptions } from 'ioredis'
import { isClusterList, type Source } from '../../../options/redis-source.ts'
import { optionsOf, type RedisSource } from './open-client.ts'

/**
 * Converts the user's option to a source of connections. A URL becomes the ioredis options that it
 * contains. A list of nodes becomes a `Cluster` that never connects and only carries the options.
 */
export function sourceOf(source: Source): RedisSource {
  if (typeof source === 'string') return optionsOf(source)
  if (!isClusterList(source)) return source
  const { cluster, dnsLookup, natMap, keyPrefix = '', ...redisOptions } = source
  const options: ClusterOptions = {
    lazyConnect: true,
    keyPrefix,
    redisOptions,
    ...(dnsLookup && { dnsLookup }),
    ...(natMap && { natMap }),
  }
  return newCluster(cluster as ClusterNode[], options)
}

/** ioredis 5 and 6 declare this constructor differently. */
export function newCluster(nodes: ClusterNode[], options: ClusterOptions): Cluster {
  return new (Cluster as new (nodes: ClusterNode[], options: ClusterOptions) => Cluster)(
    nodes,
    options,
  )
}
