import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Calls `fn` outside the async context of the caller, for example to start a timer or a connection.
 * Timers and connections outlast the caller that first needed them. They must not keep the caller's
 * context, such as a span of a trace, in memory.
 */
export const outsideContexts: <T>(fn: () => T) => T = AsyncLocalStorage.snapshot()
