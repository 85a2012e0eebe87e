import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Deployment } from '../deployment/rows.ts'
import type { Access } from './access.ts'
import { handle } from './handler.ts'
import { forNode } from './node-requests.ts'
import { endUntold, type Past, type PastQuestion, SeenHolds } from './past.ts'
import { CLOSED, messageOf, Poll, type PollTimes } from './poll.ts'
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

export const TIMES: Times = {
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
    readonly times?: Partial<Times>
    /** Undefined where it is off. */
    readonly history?: ((question: PastQuestion) => Promise<Past | null>) | undefined
  } = {},
): Dashboard {
  const times = { ...TIMES, ...more.times }
  const holds = new SeenHolds()
  const table = new Table(more.address ?? '', (before, after) => holds.note(before, after))
  const poll = new Poll(open, table, times)
  const closing = new AbortController()
  const parts = {
    table,
    poll,
    times,
    release,
    closed: closing.signal,
    authorize: async (request: Request, context: unknown) => await authorize(request, context),
    async past(question: PastQuestion) {
      try {
        const told = await more.history?.(question)
        if (told == null) return holds.past(question, null)
        if (table.status.state === 'live') endUntold(told.spans, (key) => table.row(key))
        return told
      } catch (error) {
        return holds.past(question, messageOf(error))
      }
    },
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
