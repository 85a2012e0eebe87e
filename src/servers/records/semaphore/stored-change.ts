import { SEMAPHORE } from '../../semaphore-server.ts'
import type { OpenRecord } from '../open-record.ts'
import { forgetResults, prolongResult, resultOf, storeResult } from '../stored-results.ts'
import { POOL } from './pool.ts'

/** A request that counts once: the server stores its result, so copies change nothing. */
export interface StoredChange {
  readonly id: string
  /** How long the server stores the result, in milliseconds. */
  readonly keptMs: number
  /** The ids of earlier requests. The server may forget their results. */
  readonly answered: Iterable<string>
}

/**
 * Returns the semaphore, and the result of an earlier copy of the request, if there is one. Also
 * forgets the results of answered requests.
 */
export function resume(record: OpenRecord, { id, answered }: StoredChange) {
  record.refuseOthers(SEMAPHORE.what)
  const pool = record.part(POOL)
  const earlier = resultOf(pool.results, id)
  forgetResults(pool.results, answered)
  return { pool, earlier }
}

export function stored(
  record: OpenRecord,
  { id, keptMs }: StoredChange,
  result: number | 'returned',
): void {
  storeResult(record.part(POOL).results, id, result, record.nowMs + keptMs)
}

export function prolong(record: OpenRecord, { id, keptMs }: StoredChange): void {
  prolongResult(record.part(POOL).results, id, record.nowMs + keptMs)
}
