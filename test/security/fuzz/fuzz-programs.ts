import fc from 'fast-check'
import { commands } from '../../../tools/cli/commands.ts'
import { run } from '../../../tools/cli/run.ts'
import { createDashboard } from '../../../tools/dashboard/handler/create.ts'
import { requestOf } from '../../../tools/dashboard/handler/node-requests.ts'
import { namesIn } from '../../commands/documented-options.ts'
import { FakeInspection } from '../../dashboard/fake-inspection.ts'
import { assertNoSecret, SECRET, type Target, targetLater, texts } from './target.ts'

const COMMANDS = commands.map(({ name }) => name)
/** The options in the usage of any command, with their short forms, and options that no command has. */
const FLAGS = [
  ...namesIn(commands.map(({ usage }) => usage).join('\n')),
  ...['-u', '-n', '-f', '-h', '--help', '--', '-x', '--unknown'],
]
const values = fc.oneof(
  fc.constantFrom('1', '-1', '0', 'x', 'all', '1h', '', '9'.repeat(30), '[a', '__proto__'),
  texts,
)
const withSecret = fc.constantFrom(
  ...[
    `--pass=${SECRET}`,
    `--sentinel-pass=${SECRET}`,
    `redis://user:${encodeURIComponent(SECRET)}@127.0.0.1:1`,
  ],
  ...[`--url=redis://:${encodeURIComponent(SECRET)}@:x`, `--url=user:${SECRET}@127.0.0.1:1`],
)
const words = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...FLAGS) },
    { weight: 3, arbitrary: values },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(...FLAGS), values)
        .map(([flag, value]) => `${flag}=${value}`),
    },
    { weight: 2, arbitrary: withSecret },
  ),
  { maxLength: 6 },
)
const names = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...COMMANDS) },
  { weight: 1, arbitrary: texts },
  { weight: 1, arbitrary: withSecret },
)

const PATHS = [
  'api/rows',
  'api/lock',
  'api/past',
  'api/release',
  'api/access',
  'api/changes',
  '',
  'page.js',
  'x',
  '..%2f',
  'constructor',
  '__proto__',
  '%00',
]
const queries = fc
  .array(
    fc.tuple(
      fc.constantFrom('key', 'owner', 'token', 'minutes', 'filter', 'x'),
      fc.oneof(texts, fc.constantFrom('a', '5', '-1', '1e9', 'NaN')),
    ),
    {
      maxLength: 4,
    },
  )
  .map((pairs) => new URLSearchParams(pairs as [string, string][]).toString())
const headers = fc.dictionary(
  fc.constantFrom(
    'holdfast-dashboard',
    'origin',
    'sec-fetch-site',
    'last-event-id',
    'cookie',
    'authorization',
    'host',
    'x-forwarded-host',
  ),
  fc.oneof(
    fc.constantFrom(
      '1',
      'release',
      'null',
      'http://d',
      'same-origin',
      'cross-site',
      `Bearer ${'a'.repeat(43)}`,
    ),
    fc.stringMatching(/^[ -~]{0,20}$/),
  ),
)

const locks = new FakeInspection()
locks.set('a', { token: 7, holders: [{ owner: 'x:1' }] })

/** A dashboard that shows its own command with a login, like the program. */
const newDashboard = (access: 'none' | 'read' | 'admin') =>
  createDashboard(
    locks.open,
    { authorize: () => access, release: true },
    {
      times: { lingerMs: 1, scanMs: 60_000 },
      command: { options: '--user user', hasPassword: true },
    },
  )
const dashboards = {
  none: newDashboard('none'),
  read: newDashboard('read'),
  admin: newDashboard('admin'),
}

/** Closes the dashboards of this file. */
export async function closeDashboards(): Promise<void> {
  await Promise.all(Object.values(dashboards).map((one) => one.close()))
}

async function bodyOf(response: Response): Promise<string> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel()
    return ''
  }
  return response.text()
}

export const PROGRAMS: readonly Target[] = [
  targetLater('arguments of the commands', 4, fc.tuple(names, words), async ([name, args]) => {
    let text = ''
    const print = (more: string) => {
      text += more
    }
    // The last URL is invalid, so that no command connects to a server.
    const end = args.indexOf('--')
    const bad = '--url=http://none'
    const given = end === -1 ? [...args, bad] : [...args.slice(0, end), bad, ...args.slice(end)]
    const code = await run(
      [name, ...given],
      {
        env: { REDISCLI_AUTH: SECRET },
        isTerminal: false,
        columns: 80,
        rows: 24,
        interrupted: () => AbortSignal.abort(),
        prompt: async () => 'no',
        out: print,
        err: print,
      },
      '1.2.3',
    )
    assertNoSecret(text)
    if (![0, 2].includes(code)) throw new Error(`It ended with ${code}: ${text}`)
    if (text === '') throw new Error('It said nothing')
  }),
  targetLater(
    'requests to the dashboard',
    4,
    fc.tuple(
      fc.constantFrom('none', 'read', 'admin'),
      fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'),
      fc.oneof(fc.constantFrom(...PATHS), texts),
      queries,
      headers,
      fc.oneof(texts, fc.json()),
    ),
    async ([access, method, path, query, headers, body]) => {
      const url = new URL(`http://d/locks/${path.replaceAll('\ud800', '')}`)
      url.search = query
      const hasBody = method !== 'GET' && method !== 'HEAD'
      const request = new Request(url, { method, headers, ...(hasBody && { body }) })
      const response = await dashboards[access as 'read'].fetch(request)
      const text = await bodyOf(response)
      assertNoSecret(text)
      if (response.status >= 500 && response.status !== 502)
        throw new Error(`${response.status}: ${text}`)
      if (access === 'none' && response.status !== 403)
        throw new Error(`Let in: ${response.status}`)
      const type = response.headers.get('content-type') ?? ''
      if (type.startsWith('application/json') && method !== 'HEAD') JSON.parse(text)
    },
  ),
  targetLater(
    'requests of Node.js',
    2,
    fc.tuple(
      fc.oneof(fc.constantFrom('GET', 'POST', 'TRACE', 'CONNECT', 'x'), texts),
      fc.oneof(
        fc.constantFrom('/', '//h/x', '/\\h', 'http://h:99999/', 'http://u:p@h/', '*', '/%', '/\0'),
        texts,
        texts.map((text) => `/${text}`),
      ),
      headers,
    ),
    async ([method, url, headers]) => {
      const request = requestOf({ method, url, headers } as never, new AbortController().signal)
      if (!(request instanceof Request)) {
        if (![400, 405].includes(request.status)) throw new Error(`${request.status}`)
        return
      }
      if (new URL(request.url).host !== 'dashboard')
        throw new Error(`It names a host: ${request.url}`)
      await bodyOf(await dashboards.none.fetch(request))
    },
  ),
]
