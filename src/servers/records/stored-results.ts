import { isEmpty } from './plain-data.ts'

/** The results of requests, by request id. A copy of a request gets the stored result. */
export interface StoredResults<T> {
  readonly byId: { [id: string]: { readonly result: T; readonly untilMs: number } }
  /** Until this moment no result expires, in ms of the server's time. */
  firstUntilMs: number
  /** After this moment all results have expired, in ms of the server's time. */
  lastUntilMs: number
}

export function newResults<T>(): StoredResults<T> {
  return { byId: {}, firstUntilMs: 0, lastUntilMs: 0 }
}

/** Returns the result of a request; undefined if no result is stored. */
export function resultOf<T>({ byId }: StoredResults<T>, id: string): T | undefined {
  return byId[id]?.result
}

export function storeResult<T>(
  results: StoredResults<T>,
  id: string,
  result: T,
  untilMs: number,
): void {
  const isFirst = isEmpty(results.byId)
  results.byId[id] = { result, untilMs }
  results.firstUntilMs = isFirst ? untilMs : Math.min(results.firstUntilMs, untilMs)
  results.lastUntilMs = isFirst ? untilMs : Math.max(results.lastUntilMs, untilMs)
}

/** Keeps a stored result until `untilMs`. Does nothing if the server has no such result. */
export function prolongResult<T>(results: StoredResults<T>, id: string, untilMs: number): void {
  const stored = results.byId[id]
  if (stored !== undefined) storeResult(results, id, stored.result, untilMs)
}

export function forgetResults<T>({ byId }: StoredResults<T>, ids: Iterable<string>): void {
  for (const id of ids) delete byId[id]
}

export function expireResults<T>(results: StoredResults<T>, nowMs: number): void {
  if (nowMs <= results.firstUntilMs) return
  results.firstUntilMs = results.lastUntilMs
  for (const [id, { untilMs }] of Object.entries(results.byId)) {
    if (untilMs < nowMs) delete results.byId[id]
    else results.firstUntilMs = Math.min(results.firstUntilMs, untilMs)
  }
}

/** Returns when all results have expired, in ms of the server's time; 0 if no result is stored. */
export function resultsUntilMs<T>({ byId, lastUntilMs }: StoredResults<T>): number {
  return isEmpty(byId) ? 0 : lastUntilMs
}
