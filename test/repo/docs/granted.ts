/**
 * The declarations that incomplete examples use, so that a page need not repeat them
 * in each example. The type check of all blocks adds them.
 */
export const takenForGranted = `
import type { Holdfast as Client, Lease, Lock } from 'holdfast'
import type { Redis } from 'ioredis'
import type { Server } from 'node:http'

declare global {
  const holdfast: Client
  const lock: Lock
  const lease: Lease
  const redis: Redis
  const server: Server
  /** A client of an SQL database. */
  const db: {
    query(sql: string, values?: readonly unknown[]): Promise<{ rowCount: number }>
  }
  const logger: { warn(...parts: unknown[]): void; error(...parts: unknown[]): void }
  const metrics: { increment(name: string): void }
  function work(signal?: AbortSignal): Promise<void>
}
`

/** Packages that examples import and that are not installed here. Any import from them compiles. */
export const notInstalled = ['esbuild', '@prisma/client', 'knex', 'mysql2/promise', 'pg']
  .map((name) => `declare module '${name}'\n`)
  .join('')
