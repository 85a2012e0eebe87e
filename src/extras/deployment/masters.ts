import type { Endpoint } from '../servers/endpoint.ts'
import type { ServerClient } from '../servers/open-server.ts'
import type { Unreachable } from './rows.ts'

/** Opens a connection to one server; rejects with an Error for people that names the server. */
export type Open = (endpoint: Endpoint) => Promise<ServerClient>

/** Connections to all servers that have locks. */
export interface Masters {
  readonly all: readonly ServerClient[]
  /** True if a majority of them has each lock; otherwise each lock is at one of them. */
  readonly isQuorum: boolean
  /** Of a quorum the number of masters, those that are down included; else 1. */
  readonly count: number
  /** True if channels are sharded there. */
  readonly isCluster: boolean
  /** The servers that cannot be reached, and are left out. */
  readonly unreachable: readonly Unreachable[]
  /** The server of that key. @throws an Error for people if that server cannot be reached */
  at(key: string): ServerClient
  /** The same; undefined if it cannot be reached. */
  find(key: string): ServerClient | undefined
  /** Tries again to reach the servers that were left out. */
  refresh(): void
  close(): void
}
