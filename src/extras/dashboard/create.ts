import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Deployment } from '../deployment/rows.ts'
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

/** What was asked for, and what came of it. */
export interface ReleaseEvent {
  /** The key of the lock, with its prefix. */
  readonly key: string
  /** From whom it was to be taken: `<clientId>:<owner>`. */
  readonly owner: string
  /** The token that was seen; null where none is remembered. */
  readonly token: number | null
  /** `changed`: somebody else has it, and keeps it. */
  readonly outcome: 'released' | 'free' | 'changed'
}

/** Who may see the dashboard, and do what. */
export interface AccessOptions {
  /**
   * Called for every request, and again for a page that stays open, every few minutes.
   *
   * @param request with the whole path; its headers have the cookies
   * @param context the second argument of `fetch`; with `node` the request of Node.js, as the login before it left it
   * @returns `'read'` to look, `'admin'` to release as well where `release` is on, `'none'` to refuse, or a `Response`
   *   of its own, such as one that leads to the login. Anything else refuses too. Of what it throws `fetch` rejects, and
   *   `node` answers with the status 500
   */
  readonly authorize: (request: Request, context: unknown) => Verdict | Promise<Verdict>
  /** Whether locks can be released by force here, by whoever is `'admin'`. False. */
  readonly release?: boolean | undefined
  /**
   * Called after each forced release that was asked for and answered, for a log of one's own; not where it is not known
   * to be done. What it throws is dropped.
   */
  readonly onRelease?: ((event: ReleaseEvent, context: unknown) => void) | undefined
}

/** What `authorize` says. */
export type Verdict = Access | Response

/** A dashboard, to be mounted at any path. */
export interface Dashboard {
  /** Answers one request: for servers that have web requests. It never rejects, unless `authorize` does. */
  fetch(request: Request, context?: unknown): Promise<Response>
  /**
   * Answers one request: for Node.js, and as middleware of Express. It needs no body, so no parser is in its way. Never
   * rejects.
   */
  node(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    next?: (error: unknown) => void,
  ): Promise<void>
  /**
   * Ends all streams, answers every request that still waits with the status 502, and closes its connections. It waits for
   * no server.
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

/** @internal What it is made of, for tests as well: any deployment, any times. */
export function createDashboard(
  open: () => Promise<Deployment>,
  { authorize, release = false, onRelease }: AccessOptions,
  more: {
    readonly address?: string
    readonly command?: CommandOptions
    readonly times?: Partial<Times>
    /** Undefined if it is off. Null is a history that nobody has written to. */
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
  // One for each request that is under way.
  setMaxListeners(0, closing.signal)
  const parts = {
    table,
    poll,
    times,
    release,
    command: more.command ?? { options: '', hasPassword: false },
    closed: closing.signal,
    authorize: async (request: Request, context: unknown) => await authorize(request, context),
    past,
    released(event: ReleaseEvent, context: unknown) {
      try {
        onRelease?.(event, context)
      } catch {
        // The lock is released, whatever becomes of the log.
      }
    },
  }
  const fetch = (request: Request, context?: unknown) => handle(parts, request, context)
  return {
    fetch,
    node: forNode(fetch),
    async close() {
      closing.abort(new Error(CLOSED))
      await poll.close()
    },
  }
}

/** What was recorded, and what the poll saw of holders who record nothing, as those of Redisson. */
function recordedPast(index: HistoryIndex, holds: SeenHolds, question: PastQuestion): Past {
  const { now, from } = question
  const lanes = index.lanes(question, (...of) => holds.knowledgeOf(...of))
  const seen = holds.lanes(question, (key, owner) => index.hasHold(key, owner))
  const drawn = busiest(joined(lanes, seen))
  return { source: 'history', error: null, now, from, ...drawn, ...index.figures(question) }
}
