import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Inspection } from '../../inspection/inspection.ts'
import type { Access } from './access.ts'
import { type CommandOptions, handle } from './handler.ts'
import type { HistoryIndex } from './history-index.ts'
import { forNode } from './node-requests.ts'
import { busiest, joined, type Past, type PastQuestion } from './past.ts'
import { PastAnswers } from './past-answers.ts'
import { CLOSED, messageOf, Poll, type PollTimes } from './poll.ts'
import { SeenHolds } from './seen-holds.ts'
import type { StreamTimes } from './stream.ts'
import { Table } from './table.ts'

/** One request to release a lock by force, and its outcome. */
export interface ReleaseEvent {
  /** The key of the lock, with its prefix. */
  readonly key: string
  /** The holder that should lose the lock: the owner id, or the id of one permit. */
  readonly owner: string
  /** The token that the page showed. Null if the page showed no token. */
  readonly token: number | null
  /**
   * `changed`: nothing was released, because another owner holds the lock now, or the same owner
   * has a newer token.
   */
  readonly outcome: 'released' | 'free' | 'changed'
}

/** The users of the dashboard and their rights. */
export interface AccessOptions {
  /**
   * Returns the rights for a request. Called for every valid request, and every few minutes for a
   * page that stays open.
   *
   * @param request the request with the whole path; its headers contain the cookies
   * @param context the second argument of `fetch`; with `node`, the request of Node.js, which your
   * login middleware may have changed
   * @returns `'read'` to look, `'admin'` to release too if `release` is on, `'none'` to refuse, or
   * your own `Response`, for example a redirect to the login. Any other value refuses too. If the
   * function throws, `fetch` rejects with the error. `node` calls `next` with the error, or answers
   * with the status 500 if there is no `next`
   */
  readonly authorize: (request: Request, context: unknown) => Verdict | Promise<Verdict>
  /** With true, an `'admin'` can release locks by force. False by default. */
  readonly release?: boolean | undefined
  /**
   * Called after each permitted request to release by force, for your own log, even if nothing was
   * released. Not called for an invalid request, or if the outcome is unknown. An error that the
   * function throws is ignored.
   */
  readonly onRelease?: ((event: ReleaseEvent, context: unknown) => void) | undefined
}

/** The result of `authorize`. */
export type Verdict = Access | Response

/** A dashboard that you can mount at any path. */
export interface Dashboard {
  /** Answers one web `Request`. Rejects only if `authorize` throws or rejects. */
  fetch(request: Request, context?: unknown): Promise<Response>
  /**
   * Answers one request of Node.js, also as middleware of Express. Does not read the body, so a
   * body parser may run before. Never rejects.
   */
  node(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    next?: (error: unknown) => void,
  ): Promise<void>
  /**
   * Ends all streams, answers every pending request with the status 502, and closes the
   * connections. Does not wait for a server to answer.
   */
  close(): Promise<void>
}

export type Times = PollTimes & StreamTimes

const TIMES: Times = {
  lookMs: 1_000,
  scanMs: 5_000,
  retryMs: 3_000,
  lingerMs: 10_000,
  streamMs: 300_000,
  commentMs: 15_000,
  gapMs: 400,
}

/** @internal Makes a dashboard for the inspection that `open` returns. Tests shorten the times. */
export function createDashboard(
  open: () => Promise<Inspection>,
  { authorize, release = false, onRelease }: AccessOptions,
  more: {
    readonly address?: string
    /** The name of the servers in errors for users. */
    readonly serverName?: string
    readonly command?: CommandOptions
    readonly times?: Partial<Times>
    /**
     * Returns the history, or null if the history has no entries. Undefined if no history is used.
     */
    readonly history?: (() => Promise<HistoryIndex | null>) | undefined
  } = {},
): Dashboard {
  const times = { ...TIMES, ...more.times }
  const table = new Table(more.address ?? '', (change) => holds.note(change))
  const holds = new SeenHolds(table)
  const past = new PastAnswers(async () => {
    try {
      const index = await more.history?.()
      if (index) return (question) => recordedPast(index, holds, question)
      return (question) => holds.past(question, null)
    } catch (error) {
      return (question) => holds.past(question, messageOf(error))
    }
  })
  const poll = new Poll(open, table, times)
  const closing = new AbortController()
  // Each pending request adds a listener. A large number of listeners is normal, so Node.js must
  // not warn.
  setMaxListeners(0, closing.signal)
  const parts = {
    table,
    poll,
    times,
    release,
    serverName: more.serverName ?? 'The server',
    command: more.command ?? { options: '', hasPassword: false },
    closed: closing.signal,
    authorize: async (request: Request, context: unknown) => await authorize(request, context),
    past,
    released(event: ReleaseEvent, context: unknown) {
      try {
        onRelease?.(event, context)
      } catch {
        // The release has already happened, so an error of the user's callback is ignored.
      }
    },
  }
  const fetch = (request: Request, context?: unknown) => handle(parts, request, context)
  return {
    fetch,
    node: forNode(fetch),
    async close() {
      closing.abort(new Error(CLOSED))
      await poll.stopPolling()
    },
  }
}

/** Combines the history with the holds that only the poll saw, such as the holds of Redisson. */
function recordedPast(index: HistoryIndex, holds: SeenHolds, question: PastQuestion): Past {
  const { now, from } = question
  const lanes = index.lanes(question, (...of) => holds.knowledgeOf(...of))
  const seen = holds.lanes(question, (key, owner) => index.hasHold(key, owner))
  const drawn = busiest(joined(lanes, seen))
  return { source: 'history', error: null, now, from, ...drawn, ...index.figures(question) }
}
