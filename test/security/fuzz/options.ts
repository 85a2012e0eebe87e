import fc from 'fast-check'
import { collectMetrics } from '../../../src/observe/metrics/metrics.ts'
import { instrument } from '../../../src/observe/opentelemetry/opentelemetry.ts'
import { readSource } from '../../../src/options/redis-source.ts'
import { resolveOptions } from '../../../src/options/settings.ts'
import { databaseOf, labelOf } from '../../../src/servers/redis/connection/open-client.ts'
import { newDashboard } from '../../../tools/dashboard/dashboard.ts'
import { whereOf } from '../../../tools/dashboard/where.ts'
import { recordHistory } from '../../../tools/history/history.ts'
import { readEndpoint, withoutLogin } from '../../../tools/servers/endpoint.ts'
import { readWhere } from '../../../tools/servers/where.ts'
import {
  anything,
  assertNoSecret,
  optionsOf,
  orRefusal,
  SECRET,
  type Target,
  target,
  texts,
} from './target.ts'

const CLIENT = [
  ...[
    'keyPrefix',
    'keepMs',
    'label',
    'leaseMs',
    'waitMs',
    'maxHoldMs',
    'commandTimeoutMs',
    'outageMs',
    'presence',
  ],
  ...[
    'counterTtlMs',
    'keepCounters',
    'longestLeaseMs',
    'newDeployment',
    'shardedPubSub',
    'heldWarningMs',
  ],
  ...['durability', 'watchdogThread'],
]

const encoded = encodeURIComponent(SECRET)
const logins = fc.constantFrom(
  `user:${encoded}@`,
  `:${encoded}@`,
  `user:${SECRET}@`,
  `${encoded}@`,
  '',
)
const places = fc.oneof(
  fc.constantFrom(
    '127.0.0.1:6379',
    'h',
    '[::1]:1',
    'h:99999',
    'h:-1',
    'h h',
    '',
    '/',
    'h/0',
    'h/x',
    'h?db=2',
    `h/1?password=${encodeURIComponent(SECRET)}`,
  ),
  texts,
)
/** URLs of any kind. Only the login contains the secret. */
const urls = fc
  .tuple(
    fc.constantFrom('redis://', 'rediss://', 'http://', 'REDIS://', 'redis:', '//', ''),
    logins,
    places,
  )
  .map((parts) => parts.join(''))

const SECRET_OPTIONS = { password: SECRET, sentinelPassword: SECRET, username: 'user' }
const sources = fc.oneof(
  anything,
  urls,
  optionsOf([
    'host',
    'port',
    'path',
    'db',
    'tls',
    'username',
    'keyPrefix',
    'sentinels',
    'name',
    'cluster',
    'url',
    'socket',
    'lazyConnect',
  ]).map((options) =>
    typeof options === 'object' && options !== null ? { ...options, ...SECRET_OPTIONS } : options,
  ),
  fc.array(urls, { maxLength: 3 }).map((cluster) => ({ cluster, ...SECRET_OPTIONS })),
  fc
    .array(fc.oneof(urls, fc.record({ host: anything, port: anything })), { maxLength: 3 })
    .map((sentinels) => ({
      sentinels,
      name: 'main',
      ...SECRET_OPTIONS,
    })),
)

const defaults = {
  login: { user: undefined, pass: undefined },
  tls: undefined,
  secure: { ca: undefined, cert: undefined, key: undefined },
}

/** Runs work that may throw a `TypeError`, as the pages say. */
function orTypeError(work: () => void): void {
  try {
    work()
  } catch (error) {
    const { name, message, stack } = error as Error
    if (name !== 'TypeError' || / is not (a|iterable)|Cannot /.test(message)) throw error
    assertNoSecret(`${message} ${stack}`)
  }
}

export const OPTIONS: readonly Target[] = [
  target(
    'options of the history, the metrics and the traces',
    4,
    optionsOf(
      [
        'redis',
        'key',
        'maxEvents',
        'ttlMs',
        'keyPrefix',
        'nameOf',
        'onError',
        'register',
        'prefix',
        'mostNames',
        'tracer',
        'spans',
        'notes',
      ],
      fc.oneof(anything, sources),
    ),
    (options) => {
      // It would connect at its first entry, and here it has no entry.
      orTypeError(() => void recordHistory(options as never).stop())
      orTypeError(() => collectMetrics(options as never).stop())
      orTypeError(() => instrument(options as never).stop())
    },
  ),
  target('options of a client', 6, optionsOf(CLIENT), (options) => {
    const given =
      typeof options === 'object' && options !== null ? { ...options, redis: 'redis://h' } : options
    orRefusal(() => resolveOptions(given as never))
  }),
  target('where Redis is', 6, fc.tuple(sources, fc.boolean()), ([source, isMaster]) => {
    orRefusal(() => resolveOptions((isMaster ? { masters: [source] } : { redis: source }) as never))
    const read = orRefusal(() => readSource(source, 'redis'))
    if (typeof read === 'object' && !('cluster' in read)) void [labelOf(read), databaseOf(read)]
  }),
  target('URLs of the tools', 4, urls, (url) => {
    const endpoint = orRefusal(() => readEndpoint(url, defaults))
    assertNoSecret(withoutLogin(url))
    if (endpoint !== undefined) assertNoSecret(endpoint.host)
  }),
  target(
    'where the servers of a command are',
    4,
    fc.tuple(
      fc.record(
        {
          url: fc.array(urls, { maxLength: 2 }),
          sentinel: fc.array(urls, { maxLength: 2 }),
          'master-name': texts,
          cluster: fc.boolean(),
          tls: fc.boolean(),
          pass: fc.constant(SECRET),
          'sentinel-pass': fc.constant(SECRET),
          cacert: texts,
        },
        { requiredKeys: [] },
      ),
      fc.array(urls, { maxLength: 2 }),
      urls,
    ),
    ([values, positionals, REDIS_URL]) => {
      orRefusal(() => readWhere(values, positionals, { REDIS_URL, REDISCLI_AUTH: SECRET }))
    },
  ),
  target(
    'options of a dashboard',
    4,
    optionsOf(
      ['redis', 'masters', 'tls', 'authorize', 'release', 'history', 'onRelease'],
      fc.oneof(anything, sources),
    ),
    (options) => {
      if (typeof options !== 'object' || options === null) return
      orRefusal(() => whereOf(options))
      orRefusal(() => {
        void newDashboard(options as never).close()
      })
    },
  ),
]
