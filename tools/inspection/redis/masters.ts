import type { Endpoint } from '../../servers/endpoint.ts'
import type { ServerClient } from '../../servers/open-server.ts'
import type { Unreachable } from '../inspection.ts'

/** Opens a connection to one server. Rejects with a readable Error that names the server. */
export type OpenServer = (endpoint: Endpoint) => Promise<ServerClient>

/** Connections to all servers that have locks. */
export interface Masters {
  readonly all: readonly ServerClient[]
  /**
   * True for independent masters, where a majority of the servers has each lock. False if one
   * server has each lock.
   */
  readonly isQuorum: boolean
  /** The number of masters of a quorum, including unreachable masters. 1 without a quorum. */
  readonly count: number
  /** True for a Redis Cluster, which may have sharded channels. */
  readonly isCluster: boolean
  /** The servers that cannot be reached. `all` does not contain these servers. */
  readonly unreachable: readonly Unreachable[]
  /**
   * Returns the connection to the server that has the key. @throws a readable Error if that server
   * cannot be reached
   */
  at(key: string): ServerClient
  /**
   * Returns the connection to the server that has the key. Undefined if that server cannot be
   * reached.
   */
  find(key: string): ServerClient | undefined
  /**
   * Tries to reach the unreachable nodes of a cluster again, in the background. Does nothing for
   * other deployments.
   */
  refresh(): void
  disconnect(): void
}
