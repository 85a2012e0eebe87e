export type { HistoryEntry, HistoryEvent } from './entry.ts'
export type { HistoryRedis } from './open-client.ts'
export { type ReadHistoryOptions, readHistory } from './read-history.ts'
export { type History, type RecordHistoryOptions, recordHistory } from './record-history.ts'
