import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { Registry } from 'prom-client'
import { createClient } from 'redis'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { collectMetrics } from '../../src/observe/metrics/metrics.ts'
import { run } from '../../tools/cli/run.ts'
import { newDashboard } from '../../tools/dashboard/dashboard.ts'
import { files } from '../../tools/dashboard/handler/page.generated.ts'
import { readHistory, recordHistory } from '../../tools/history/history.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { Rig } from '../opentelemetry/opentelemetry-rig.ts'
import { read } from '../repo/docs/pages.ts'
import { eventually } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import { makeCertificates } from '../support/places/certificates.ts'
import { freePort } from '../support/ports.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { expectWarnings, hearWarnings } from '../support/warnings.ts'

/** Secrets with characters that are special in URLs, JSON, shells or regular expressions. */
const PASSWORD = `Pw1-ü%41/?#@:&"'\\$& ${'x'.repeat(3)}-endPw1`
const WRONG = `Pw2-%zz+/=@:;,<>\`|ö-endPw2`
const SENTINEL = `Pw3-{tag}[*]$'(?:x)-endPw3`
const TLS_KEY = makeCertificates().client.key
const USER = 'app'

/** Parts of a secret are secrets as well, because an output may contain only a part. */
const PARTS = ['Pw1', 'Pw2', 'Pw3', ...TLS_KEY.split('\n').filter((line) => line.length > 40)]

/** Returns all texts in which a secret could be read. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const quoted = JSON.stringify(secret).slice(1, -1)
  return [
    ...[secret, quoted, JSON.stringify(quoted).slice(1, -1), inspect(secret).slice(1, -1)],
    ...[encodeURIComponent(secret), encodeURI(secret), escape(secret)],
    ...[
      bytes.toString('base64').replace(/=*$/, ''),
      bytes.toString('base64url'),
      bytes.toString('hex'),
    ],
    ...[Buffer.from(`${USER}:${secret}`).toString('base64').replace(/=*$/, '')],
  ]
}
const FORBIDDEN = [...new Set([...[PASSWORD, WRONG, SENTINEL].flatMap(formsOf), ...PARTS])]

/** All texts that were printed, thrown, emitted, stored or answered, by their source. */
const outputs = new Map<string, string[]>()

function heard(source: string, ...values: readonly unknown[]): void {
  const texts = values.flatMap((value) => [
    typeof value === 'string' ? value : inspect(value, { depth: 20, showHidden: true }),
    ...(typeof value === 'object' && value !== null ? [jsonOf(value), String(value)] : []),
    ...(value instanceof Error ? causesOf(value) : []),
  ])
  outputs.set(source, [...(outputs.get(source) ?? []), ...texts])
}

function causesOf(error: Error): string[] {
  const { cause, message, stack = '' } = error
  const others = error instanceof AggregateError ? (error.errors as Error[]) : []
  const inner = [cause, ...others].filter((one): one is Error => one instanceof Error)
  return [
    message,
    stack,
    inspect(cause, { depth: 20, showHidden: true }),
    ...inner.flatMap(causesOf),
  ]
}

function jsonOf(value: object): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}

/** Returns the secrets that can be read in the outputs, and their places. */
function found(): string[] {
  return [...outputs].flatMap(([source, texts]) =>
    texts.flatMap((text) =>
      FORBIDDEN.filter((secret) => text.includes(secret)).map((secret) => {
        const at = text.indexOf(secret)
        return `${source}: ${JSON.stringify(secret)} in …${text.slice(Math.max(0, at - 150), at + 60)}…`
      }),
    ),
  )
}

const CHANNELS = [...read('src/diagnostics.ts').matchAll(/'(holdfast:[\w-]+)'/g)].map(([, name]) =>
  String(name),
)
const TRACED = CHANNELS.flatMap((name) => [
  name,
  ...['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map((event) => `tracing:${name}:${event}`),
])

let server: RedisServer
let dead: number
let stopHearing: () => void

beforeAll(async () => {
  server = await startRedis()
  dead = await freePort()
  await server.admin.call('ACL', 'SETUSER', USER, 'on', `>${PASSWORD}`, '~*', '&*', '+@all')
  const onFact = (fact: unknown, name: string | symbol) => heard(`channel ${String(name)}`, fact)
  for (const name of TRACED) subscribe(name, onFact)
  const onWarning = (warning: Error) => heard('a process warning', warning)
  process.on('warning', onWarning)
  const endWarnings = hearWarnings((...args) => heard('process.emitWarning()', ...args))
  const write = process.stderr.write.bind(process.stderr)
  process.stderr.write = ((chunk: never, ...others: never[]) => {
    heard('stderr of the process', String(chunk))
    return write(chunk, ...others)
  }) as typeof process.stderr.write
  stopHearing = () => {
    process.stderr.write = write
    process.off('warning', onWarning)
    endWarnings()
    for (const name of TRACED) unsubscribe(name, onFact)
  }
})
afterAll(() => stopHearing())

let sources = 0
beforeEach(() => outputs.clear())
afterEach(() => {
  sources += outputs.size
})

const encoded = (login: string) => encodeURIComponent(login)
const urlWith = (password: string, port = server.port) =>
  `redis://${USER}:${encoded(password)}@127.0.0.1:${port}`

const EVENTS = [
  ...['acquired', 'released', 'renewed', 'late', 'lost', 'stalled', 'error', 'outage', 'recovered'],
  ...['releaseRequested', 'extended', 'master'],
]

/** Uses locks with these options, and records all output. */
async function use(source: string, options: HoldfastOptions): Promise<void> {
  let client: Holdfast
  try {
    client = new Holdfast({
      outageMs: 400,
      commandTimeoutMs: 200,
      leaseMs: 1_000,
      label: 'app',
      ...options,
    })
  } catch (error) {
    heard(`${source}: thrown`, error)
    return
  }
  for (const event of EVENTS)
    client.on(event as 'error', (fact) => heard(`${source}: event ${event}`, fact))
  const lock = client.getLock('a')
  const calls: (() => unknown)[] = [
    () => lock.tryLock(),
    () => lock.using((lease) => heard(`${source}: a lease`, lease)),
    () => lock.inspect(),
    () => lock.why(),
    () => lock.forceUnlock(),
    () => client.getFairLock('f').using(() => undefined, { waitMs: 300 }),
    () => client.getPermitExpirableSemaphore('s', { permits: 1 }).tryAcquire(),
    () => client.getCountDownLatch('l').trySetCount(1),
    async () => {
      const semaphore = client.getSemaphore('p')
      await semaphore.trySetPermits(1)
      return semaphore.tryAcquire()
    },
    () => client.getCyclicBarrier('b').await({ parties: 2, waitMs: 100 }),
    () => client.getLeaderElection('e').lead((term) => heard(`${source}: a term`, term)),
    () => client.getReadWriteLock('rw').readLock().tryLock(),
    () => client.getMultiLock(client.getLock('m'), client.getLock('n')).tryLock(),
    () => client.clientInfo(client.id),
    () => client.held(),
  ]
  await Promise.all(
    calls.map(async (call) => {
      try {
        heard(`${source}: an answer`, await call())
      } catch (error) {
        heard(`${source}: an error`, error)
      }
    }),
  )
  heard(`${source}: objects`, client, lock, client.owner())
  if (options.masters === undefined) {
    heard(`${source}: objects`, client.getSemaphore('p'), client.getReadWriteLock('rw'))
  }
  heard(`${source}: close()`, await client.close().catch((error: unknown) => error))
}

const ways: [string, () => HoldfastOptions][] = [
  ['the right password', () => ({ redis: urlWith(PASSWORD) })],
  [
    'the right password by options',
    () => ({ redis: { host: '127.0.0.1', port: server.port, username: USER, password: PASSWORD } }),
  ],
  ['a wrong password', () => ({ redis: urlWith(WRONG) })],
  [
    'a wrong password by options',
    () => ({ redis: { host: '127.0.0.1', port: server.port, username: USER, password: WRONG } }),
  ],
  ['a server that is down', () => ({ redis: urlWith(PASSWORD, dead) })],
  ['the thread of the watchdog', () => ({ redis: urlWith(WRONG), watchdogThread: true })],
  ['masters', () => ({ masters: [urlWith(WRONG), urlWith(PASSWORD, dead), urlWith(PASSWORD)] })],
  ['a cluster', () => ({ redis: { cluster: [urlWith(WRONG), urlWith(WRONG, dead)] } })],
  [
    'Sentinels',
    () => ({
      redis: {
        sentinels: [`redis://s:${encoded(SENTINEL)}@127.0.0.1:${server.port}`],
        name: 'main',
        password: PASSWORD,
      },
    }),
  ],
  [
    'Sentinels that are down',
    () => ({
      redis: {
        sentinels: [{ host: '127.0.0.1', port: dead }],
        sentinelPassword: SENTINEL,
        name: 'main',
        password: PASSWORD,
      },
    }),
  ],
  [
    'TLS',
    () => ({
      redis: {
        host: '127.0.0.1',
        port: server.port,
        password: PASSWORD,
        tls: { key: TLS_KEY, cert: 'none' },
      },
    }),
  ],
  [
    'TLS with a key that is none',
    () => ({
      redis: {
        host: '127.0.0.1',
        port: server.port,
        password: PASSWORD,
        tls: { key: TLS_KEY.replace('MI', 'XX') },
      },
    }),
  ],
  ['an instance of ioredis', () => ({ redis: new Redis(urlWith(WRONG), { lazyConnect: true }) })],
  ['a client of node-redis', () => ({ redis: createClient({ url: urlWith(WRONG) }) })],
  [
    'options that make no sense',
    () => ({ redis: { host: 'h', password: PASSWORD, passwort: WRONG } as never }),
  ],
  ['a URL that makes no sense', () => ({ redis: `http://${USER}:${encoded(PASSWORD)}@h` })],
  ['a URL with a bare password', () => ({ redis: `redis//${USER}:${PASSWORD}@h` })],
  [
    'a password in the query',
    () => ({ redis: { cluster: [`redis://h:1/1?password=${encoded(PASSWORD)}`] } }),
  ],
  [
    'servers with other logins',
    () => ({ redis: { cluster: [urlWith(PASSWORD), urlWith(WRONG, dead)] } }),
  ],
  ['a list', () => ({ redis: [urlWith(PASSWORD)] as never })],
]

test.each(ways)('a client with %s shows no secret', async (name, optionsOf) => {
  leaves({ keys: true, why: 'calls are left as they are' })
  await use(name, optionsOf())
  expect(found()).toEqual([])
})

test('the history, the metrics and the traces show no secret', async () => {
  expectWarnings('HOLDFAST_HISTORY')
  leaves({ keys: true, why: 'the stream of the history stays' })
  const register = new Registry()
  const metrics = collectMetrics({ register })
  const rig = new Rig()
  const onError = (error: Error) => heard('recordHistory: onError', error)
  const given: unknown[] = [urlWith(PASSWORD), urlWith(WRONG), urlWith(PASSWORD, dead)]
  const histories = given.map((redis) => recordHistory({ redis, onError } as never))
  const silent = recordHistory({ redis: urlWith(WRONG) } as never) // it warns
  await use('with recorders', { redis: urlWith(PASSWORD) })
  await use('with recorders, and a wrong password', { redis: urlWith(WRONG) })
  await eventually(async () => (await server.admin.xlen('holdfast_history')) > 0)
  await Promise.all([...histories, silent].map((one) => one.stop()))
  heard('the stream', await server.admin.xrange('holdfast_history', '-', '+'))
  for (const redis of given) {
    try {
      for await (const entry of readHistory({ redis: redis as string })) heard('readHistory', entry)
    } catch (error) {
      heard('readHistory', error)
    }
  }
  for (const wrong of [
    urlWith(PASSWORD),
    { redis: { password: PASSWORD, x: 1 } },
    { redis: urlWith(PASSWORD), keyPrefix: { password: PASSWORD } },
  ]) {
    try {
      recordHistory(wrong as never)
    } catch (error) {
      heard('recordHistory: thrown', error)
    }
    try {
      collectMetrics({ register: wrong } as never)
    } catch (error) {
      heard('collectMetrics: thrown', error)
    }
  }
  heard('metrics', await register.metrics())
  heard(
    'spans',
    ...rig.spans.map(({ name, attributes, events, status }) => ({
      name,
      attributes,
      events,
      status,
    })),
  )
  heard('measurements', await rig.metrics())
  await rig.end()
  metrics.stop()
  expect(outputs.get('process.emitWarning()')?.join()).toContain('HOLDFAST_HISTORY')
  expect(outputs.get('metrics')?.join()).toContain('holdfast')
  expect(outputs.get('the stream')?.join()).toContain('acquired')
  expect(found()).toEqual([])
})

const COMMANDS = ['list', 'inspect', 'watch', 'leaks', 'release', 'history', 'bench', 'doctor']
const logins: [string, () => string[]][] = [
  ['the right password', () => ['--url', urlWith(PASSWORD)]],
  [
    'the right password as an option',
    () => ['--url', `127.0.0.1:${server.port}`, '--user', USER, '--pass', PASSWORD],
  ],
  ['a wrong password', () => ['--url', urlWith(WRONG)]],
  ['a server that is down', () => ['--url', urlWith(PASSWORD, dead)]],
  [
    'several masters',
    () => ['--url', urlWith(WRONG), '--url', urlWith(PASSWORD, dead), '--url', urlWith(PASSWORD)],
  ],
  ['a cluster', () => ['--cluster', '--url', urlWith(WRONG)]],
  [
    'Sentinels',
    () => [
      '--sentinel',
      `127.0.0.1:${server.port}`,
      '--master-name',
      'm',
      '--sentinel-user',
      's',
      '--sentinel-pass',
      SENTINEL,
      '--pass',
      PASSWORD,
    ],
  ],
  ['no sense', () => ['--url', `http://${USER}:${encoded(PASSWORD)}@h`]],
  ['a URL in another place', () => ['--cacert', urlWith(PASSWORD)]],
  ['a password after --', () => ['--', 'a', `--pass=${PASSWORD}`]],
]

test.each(logins)('the commands with %s show no secret', async (name, loginOf) => {
  leaves({ keys: true, why: 'bench leaves its counters' })
  const more: Record<string, string[]> = {
    inspect: ['a'],
    release: ['a', '--force', '--yes', '--owner', 'x:1'],
    bench: [],
  }
  for (const command of COMMANDS) {
    for (const form of command === 'bench' || command === 'release' ? [[]] : [[], ['--json']]) {
      if (command === 'bench' && name.startsWith('the right')) continue // the benchmark takes several seconds
      const args = [command, ...(more[command] ?? []), ...form, ...loginOf()]
      const interrupted = () => AbortSignal.timeout(300)
      const env = { REDISCLI_AUTH: PASSWORD }
      const { code, out, err } = await holdfast(args, { interrupted, env })
      heard(`${command}: output, exit code ${code}`, out, err)
    }
  }
  const called = await holdfast([
    loginOf().find((word) => /^(redis|--).*Pw/.test(word)) ?? 'x',
    'list',
  ])
  heard('an unknown command', called.err)
  expect(found()).toEqual([])
})

test('the dashboard shows no secret in its pages, its API and its failures', async () => {
  leaves({ keys: true, why: 'a lock is held' })
  const client = new Holdfast({ redis: urlWith(PASSWORD) })
  const lease = await client.getLock('held').lock()
  for (const redis of [urlWith(PASSWORD), urlWith(WRONG), urlWith(PASSWORD, dead)]) {
    const history = { redis }
    const dashboard = newDashboard({ redis, authorize: () => 'admin', release: true, history })
    const paths = [
      ...Object.keys(files),
      '',
      'api/access',
      'api/rows',
      'api/past',
      'api/lock?key=held',
      'api/lock?key=no',
      'x',
    ]
    for (const path of paths) {
      const response = await dashboard.fetch(new Request(`http://d/locks/${path}`))
      heard(`GET ${path}`, [...response.headers].join('\n'), await response.text())
    }
    const asked = new URLSearchParams({ key: 'held', owner: lease.owner, token: `${lease.token}` })
    const headers = { 'holdfast-dashboard': '1' }
    const released = await dashboard.fetch(
      new Request(`http://d/locks/api/release?${asked}`, { method: 'POST', headers }),
    )
    heard('POST api/release', await released.text())
    const stream = await dashboard.fetch(new Request('http://d/locks/api/stream'))
    const reader = stream.body?.getReader()
    heard('the stream of changes', new TextDecoder().decode((await reader?.read())?.value))
    await reader?.cancel()
    await dashboard.close()
  }
  await client.close()
  for (const wrong of [
    { redis: { password: PASSWORD } },
    { redis: urlWith(PASSWORD), masters: [] },
    { redis: urlWith(PASSWORD), release: { password: PASSWORD } },
    { redis: urlWith(PASSWORD), release: urlWith(PASSWORD) },
  ]) {
    try {
      newDashboard({ ...wrong, authorize: () => 'read' } as never)
    } catch (error) {
      heard('newDashboard: thrown', error)
    }
  }
  expect(found()).toEqual([])
})

test('the token of the dashboard program is only in the address and the cookie', async () => {
  leaves({ keys: true, why: 'a lock was held' })
  const interruption = new AbortController()
  let printed = ''
  const print = (text: string) => {
    printed += text
  }
  const done = run(
    ['dashboard', '--port', '0', '--url', urlWith(PASSWORD)],
    {
      env: {},
      isTerminal: false,
      columns: 80,
      rows: 24,
      interrupted: () => interruption.signal,
      prompt: async () => 'no',
      out: print,
      err: print,
    },
    '1.2.3',
  )
  await eventually(() => printed.includes('token='))
  const [, address = '', token = ''] = /at (http:\/\/\S+\/)\?token=(\S+)/.exec(printed) ?? []
  expect(token).toHaveLength(32)
  const texts = [printed.replace(token, '')]
  const entered = await fetch(`${address}?token=${token}`, { redirect: 'manual' })
  const cookie = entered.headers.get('set-cookie') ?? ''
  expect(cookie).toMatch(new RegExp(`=${token}; HttpOnly; SameSite=Strict`))
  texts.push(String(entered.headers.get('location')), await entered.text())
  for (const path of [
    '',
    'api/rows',
    'api/access',
    'api/past',
    'api/lock?key=no',
    'x.js',
    `?token=${token}x`,
  ]) {
    for (const headers of [
      {},
      { cookie },
      { cookie: `${cookie}x` },
      { authorization: `Bearer ${token}` },
    ]) {
      const response = await fetch(address + path, { headers, redirect: 'manual' })
      texts.push([...response.headers].join('\n'), await response.text())
    }
  }
  interruption.abort()
  expect(await done).toBe(0)
  texts.push(printed.replace(token, ''))
  const forms = [token, Buffer.from(token).toString('base64'), Buffer.from(token).toString('hex')]
  expect(texts.filter((text) => forms.some((form) => text.includes(form)))).toEqual([])
  heard('the program of the dashboard', ...texts)
  expect(found()).toEqual([])
})

test('the keys in Redis contain no secret', async () => {
  leaves({ keys: true, why: 'they are looked at' })
  for (const key of await server.admin.keys('*')) {
    heard(`the key ${key}`, Buffer.from((await server.admin.dump(key)) ?? '').toString())
  }
  expect(found()).toEqual([])
})

/** The search above finds nothing. This test proves that the search would find a secret. */
test('the search finds a secret in any form, in a text or in an error', () => {
  expect(sources).toBeGreaterThan(100)
  for (const form of [PASSWORD, WRONG, SENTINEL].flatMap(formsOf)) {
    outputs.clear()
    heard('a text', `before ${form} after`)
    expect(found()).not.toEqual([])
    outputs.clear()
    heard('an error', new Error('outer', { cause: new AggregateError([{ deep: { in: [form] } }]) }))
    expect(found()).not.toEqual([])
  }
  outputs.clear()
})
