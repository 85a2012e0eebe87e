import type { Endpoint } from '../servers/endpoint.ts'
import type { ServerClient } from '../servers/open-server.ts'
import type { Unreachable } from './rows.ts'

/** Opens a connection to one server. Rejects with a readable Error that names the server. */
export type Open = (endpoint: Endpoint) => Promise<ServerClient>

/** Connections to all servers that have locks. */
export interface Masters {
  readonly all: readonly ServerClient[]
  /** True if a majority of the servers has each lock. False if one server has each lock. */
  readonly isQuorum: boolean
  /** The number of masters of a quorum, unreachable masters included; otherwise 1. */
  readonly count: number
  /** True for a cluster, which may have sharded channels. */
  readonly isCluster: boolean
  /** The servers that cannot be reached. `all` does not contain them. */
  readonly unreachable: readonly Unreachable[]
  /** The server of that key. @throws a readable Error if that server cannot be reached */
  at(key: string): ServerClient
  /** Like `at`, but undefined if the server cannot be reached. */
  find(key: string): ServerClient | undefined
  /** Tries again to reach the servers that are missing, in the background. */
  refresh(): void
  close(): void
}
