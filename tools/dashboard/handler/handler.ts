import { InvalidArgumentError } from '../../../src/index.ts'
import { toFree } from '../../inspection/to-free.ts'
import { type Access, refuseChange } from './access.ts'
import { files } from './page.generated.ts'
import { pageKinds } from './page-kinds.ts'
import type { PastAnswers } from './past-answers.ts'
import { messageOf, type Poll } from './poll.ts'
import { json, redirect, refusal, reply } from './replies.ts'
import { detailOf } from './row.ts'
import { newStream, type StreamTimes } from './stream.ts'
import type { Table } from './table.ts'

export interface Parts {
  readonly table: Table
  readonly poll: Poll
  readonly times: StreamTimes
  readonly release: boolean
  /** The name of the servers in errors for users. */
  readonly serverName: string
  readonly command: CommandOptions
  authorize(request: Request, context: unknown): Promise<Access | Response>
  readonly past: PastAnswers
  released(
    event: { key: string; owner: string; token: number | null; outcome: string },
    context: unknown,
  ): void
  /**
   * Aborts when the dashboard closes, which ends all streams and pending requests. The reason of
   * the signal is an Error with a message for users.
   */
  readonly closed: AbortSignal
}

/** The options with which `npx holdfast` finds the servers of the dashboard. */
export interface CommandOptions {
  /** Such as `--url=redis://…`. Never contains a password. */
  readonly options: string
  readonly hasPassword: boolean
}

interface DashboardRequest {
  readonly request: Request
  readonly context: unknown
  readonly query: URLSearchParams
  readonly access: Access
}

type Route = (parts: Parts, asked: DashboardRequest) => Response | Promise<Response>

/** The files of the page, by name. */
const served: Readonly<Record<string, string>> = { ...files, 'kinds.js': pageKinds }

const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript' } as const

/**
 * The routes for reading, by the last two parts of the path. The parts before them are unknown,
 * because users may mount the dashboard at any path.
 */
const reads: Record<string, Route> = {
  'api/access': ({ release }, { access }) => json({ access, release }),
  'api/rows': rows,
  'api/stream': stream,
  'api/lock': lock,
  'api/past': past,
}
const changes: Record<string, Route> = { 'api/release': releaseHolder }

export async function handle(parts: Parts, request: Request, context: unknown): Promise<Response> {
  const access = await parts.authorize(request, context)
  if (access instanceof Response) return access
  // A forgotten `return` in `authorize` gives undefined. So every value except `read` and `admin`
  // refuses the request.
  if (access !== 'read' && access !== 'admin')
    return refusal(
      403,
      'You have no right to see this dashboard. Its operator gives rights in authorize().',
    )
  const { pathname, searchParams: query } = new URL(request.url)
  const route = routeOf(pathname)
  const asked = { request, context, query, access }
  const change = changes[route]
  if (change !== undefined) {
    return request.method === 'POST' ? await answer(change, parts, asked) : onlyBy('POST')
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') return onlyBy('GET')
  const read = reads[route]
  if (read !== undefined) return await answer(read, parts, asked)
  if (pathname.endsWith('/')) return file('page.html')
  const name = pathname.slice(pathname.lastIndexOf('/') + 1)
  if (Object.hasOwn(served, name)) return file(name)
  // Relative links on the page work only if the address ends with a slash.
  return name.includes('.')
    ? refusal(404, `The dashboard has no page ${name}.`)
    : redirect(`${name}/`)
}

function routeOf(pathname: string): string {
  return pathname.split('/').slice(-2).join('/')
}

function onlyBy(method: string): Response {
  const response = refusal(405, `This path needs the method ${method}.`)
  response.headers.set('allow', method)
  return response
}

async function answer(route: Route, parts: Parts, asked: DashboardRequest): Promise<Response> {
  const { closed } = parts
  try {
    return await unlessAborted(closed, async () => route(parts, asked))
  } catch (error) {
    if (closed.aborted) return refusal(502, messageOf(closed.reason))
    // The request is invalid. For example, the lock is of a kind without known holders.
    if (error instanceof InvalidArgumentError) return refusal(400, error.message)
    return refusal(502, `${parts.serverName} could not be asked: ${messageOf(error)}`)
  }
}

/** Runs `work`, but rejects as soon as the signal aborts, even if a server hangs. */
function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
    work()
      .finally(() => signal.removeEventListener('abort', abort))
      .then(resolve, reject)
  })
}

function file(name: string): Response {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1) as keyof typeof TYPES]
  return reply(served[name] ?? '', `${type}; charset=utf-8`)
}

/** Returns all rows in one reply, for programs. Waits until the first scan has ended. */
async function rows({ table, poll }: Parts): Promise<Response> {
  await poll.withInspection(async () => {
    while (table.status.state === 'waiting') await table.changed
    if (table.status.state === 'unreachable') throw new Error(table.status.error ?? 'no answer')
  })
  return json({ now: Date.now(), status: table.status, totals: table.totals, rows: table.rows })
}

function stream({ table, poll, times, closed }: Parts, { request }: DashboardRequest): Response {
  const exit = poll.enter()
  const signal = AbortSignal.any([request.signal, closed])
  const seen = request.headers.get('last-event-id')
  const body = newStream(table, seen, times, signal, exit)
  return reply(body, 'text/event-stream; charset=utf-8', 200, { 'x-accel-buffering': 'no' })
}

async function lock({ poll, command }: Parts, { query }: DashboardRequest): Promise<Response> {
  const key = query.get('key')
  if (key === null) return refusal(400, 'The key of the lock is missing: ?key=…')
  const found = await poll.withInspection((inspection) => inspection.inspect(key))
  const now = Date.now()
  if (found === null) return refusal(404, `There is no lock named ${JSON.stringify(key)}.`)
  const { options, hasPassword } = command
  const free = { ...toFree(found, { name: key, options }), needsPassword: hasPassword }
  return json({ now, lock: detailOf(found, now), toFree: free })
}

async function past({ past }: Parts, { query }: DashboardRequest): Promise<Response> {
  const minutes = Number(query.get('minutes') ?? 5)
  if (!(minutes > 0 && minutes <= 1_440)) {
    return refusal(
      400,
      `minutes must be above 0, and at most 1440; got ${JSON.stringify(query.get('minutes'))}.`,
    )
  }
  const text = await past.of({ minutes, key: query.get('key'), filter: query.get('filter') ?? '' })
  return reply(text, 'application/json; charset=utf-8')
}

/**
 * Releases the lock by force only if the given owner still holds it. For most locks,
 * `forceRelease` also compares the given token with the last token. So a repeated request does not
 * end a later hold. After the release, reads the lock again for all viewers.
 */
async function releaseHolder(
  parts: Parts,
  { request, context, query, access }: DashboardRequest,
): Promise<Response> {
  const refused = refuseChange(request, access, parts.release)
  if (refused !== null) return refused
  const [key, owner, seen] = ['key', 'owner', 'token'].map((name) => query.get(name))
  const token = seen === '' || seen == null ? null : Number(seen)
  if (key == null || !owner || (token !== null && !Number.isSafeInteger(token))) {
    return refusal(
      400,
      'Give the key, and the owner and token that you saw: ?key=…&owner=…&token=…',
    )
  }
  const forced = await parts.poll.withInspection((inspection) =>
    inspection.forceRelease(key, { owner, token }, 'dashboard'),
  )
  parts.released({ key, owner, token, outcome: forced.outcome }, context)
  await parts.poll.reread([key]).catch(() => undefined)
  return json(forced)
}
