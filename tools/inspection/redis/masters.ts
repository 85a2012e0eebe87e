import type { Endpoint } from '../../servers/endpoint.ts'
import type { ServerClient } from '../../servers/open-server.ts'
import type { Unreachable } from '../inspection.ts'

/** Opens a connection to one server. Rejects with a readable Error that names the server. */
export type OpenServer = (endpoint: Endpoint) => Promise<ServerClient>

/** Connections to all servers that have locks. */
export interface Masters {
  readonly all: readonly ServerClient[]
  /**
   * True for independent masters: a majority of them has each lock. False if only one server has
   * each lock.
   */
  readonly isQuorum: boolean
  /** The number of masters of a quorum, including unreachable masters; otherwise 1. */
  readonly count: number
  /** True for a Redis Cluster, which may have sharded channels. */
  readonly isCluster: boolean
  /** The servers that cannot be reached. They are not in `all`. */
  readonly unreachable: readonly Unreachable[]
  /**
   * Returns the connection to the server that has the key; in a quorum, to the first reachable
   * master. Throws a readable Error if that server is unreachable.
   */
  at(key: string): ServerClient
  /** Like `at`, but returns undefined if that server is unreachable. */
  find(key: string): ServerClient | undefined
  /**
   * Tries to reach the unreachable nodes of a cluster again, in the background. Does nothing for
   * other deployments.
   */
  refresh(): void
  disconnect(): void
}
