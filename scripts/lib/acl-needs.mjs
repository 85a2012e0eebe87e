// What each kind of lock and each tool needs of a login: commands, keys and channels. The scripts tell most of it. What is
// sent without a script is listed here, and test/places/acl-*.test.ts hold that nothing is missing and nothing too much.
import { SCRIPT_KINDS, scriptsOf } from '../kinds/kind.mjs'
import { readScript } from './script-commands.mjs'

/** What the keys of the headers are called in Redis; `''` is the key of the lock itself. */
const KEYS = {
  lock: '',
  counter: 'redisson_lock_token',
  waiting: 'holdfast_waiting',
  javaQueue: 'redisson_lock_queue',
  javaTimeouts: 'redisson_lock_timeout',
  forced: 'holdfast_forced',
  timeouts: 'braces',
  prefix: 'braces',
  kind: 'holdfast_kind',
  request: 'holdfast_request',
  answered: 'holdfast_request',
  client: 'holdfast_client',
  birth: 'holdfast_birth',
}
/** Names of keys that stand for several keys, or for another one in each folder of scripts. */
const OF_FOLDER = {
  lock: { both: ['lock', 'counter'], queue: 'holdfast_queue' },
  fair: { locks: ['lock', 'counter', 'queue', 'waiting'], queue: 'holdfast_queue' },
  ...Object.fromEntries([...SCRIPT_KINDS].map(([folder, { keys }]) => [folder, keys])),
}
const CHANNELS = {
  lock: 'redisson_lock__channel',
  fair: 'redisson_lock__channel',
  quorum: 'redisson_lock__channel',
  ...Object.fromEntries([...SCRIPT_KINDS].map(([folder, { channel }]) => [folder, channel])),
}
/** Scripts of the tools, by the folder whose names they use. */
const LIKE = {
  'admin/take-lock': 'fair',
  'admin/take-permit': 'permits',
  'admin/take-read-write': 'read-write',
}

const LOCK = [
  'acquire',
  'batch',
  'force-release',
  'hand-over',
  'inspect',
  'peek',
  'release',
  'renew',
]
const of = (folder, names) => names.map((name) => `${folder}/${name}`)
const FAIR = of('fair', ['acquire', 'heartbeat', 'release'])
const PLAIN = of('lock', LOCK)

/** Every client: it connects, listens, tells who it is and asks who others are. */
const CLIENT = [
  'evalsha',
  'eval',
  'ping',
  'info',
  'time',
  'subscribe',
  'unsubscribe',
  'hget',
  'del',
]
/** A holder is asked to release, and answers. */
const REQUESTS = { commands: ['publish'], channels: ['holdfast_requests'] }

const kind = (title, scripts, more = {}) => ({
  title,
  ...together([needsOf(['presence/touch', ...scripts]), { commands: CLIENT }, more]),
})

/** A client without holds has no note about a hold to take away. */
function withoutNotes({ commands, ...rest }) {
  return { ...rest, commands: commands.filter((one) => one !== 'hdel') }
}

function kindOf([folder, { title, hasOwners = false, hasNotes = true }]) {
  const needs = kind(title, scriptsOf(folder), hasOwners ? REQUESTS : {})
  return hasNotes ? needs : withoutNotes(needs)
}

export const KINDS = [
  kind('getLock', PLAIN, REQUESTS),
  kind(
    'getFairLock',
    [...PLAIN, ...FAIR].filter((one) => one !== 'lock/hand-over'),
    REQUESTS,
  ),
  kind('getMultiLock', [...PLAIN, 'lock/acquire-all'], REQUESTS),
  kind(
    'masters',
    [...PLAIN, ...of('quorum', ['agree', 'enrol', 'restore', 'vote'])],
    together([REQUESTS, { commands: ['config|get'] }]),
  ),
  ...[...SCRIPT_KINDS].map(kindOf),
  kind(
    'getLeaderElection',
    [...FAIR, ...of('lock', ['inspect', 'peek', 'renew'])],
    together([REQUESTS, { channels: ['holdfast_election'] }]),
  ),
]

/** What `readKeys` of tools/inspection/redis asks. */
const READING = {
  commands:
    'ping time type get hgetall hget pttl exists zcard zcount zrange zrangebyscore pubsub|numsub'.split(
      ' ',
    ),
  keys: [
    '',
    'braces',
    'redisson_lock_token',
    'holdfast_queue',
    'holdfast_waiting',
    'holdfast_kind',
    ...[...SCRIPT_KINDS.values()].flatMap(({ asked = [] }) => asked),
    'holdfast_client',
  ],
}
const LISTING = together([READING, { commands: ['scan', 'hrandfield', 'mget'] }])
const FORCING = together([
  needsOf(Object.keys(LIKE)),
  { commands: ['eval', 'xadd'], keys: ['holdfast_history'] },
])
const HISTORY = { commands: ['xrevrange', 'xread'], keys: ['holdfast_history'] }

export const TOOLS = [
  { title: 'list', ...LISTING },
  { title: 'inspect', ...together([READING, { commands: ['scan'] }]) },
  { title: 'watch', ...LISTING },
  { title: 'leaks', ...LISTING },
  {
    title: 'release --ask',
    ...together([
      READING,
      {
        commands: ['publish', 'subscribe', 'unsubscribe', 'info'],
        channels: ['holdfast_requests'],
      },
    ]),
  },
  { title: 'release --force', ...together([READING, FORCING]) },
  { title: 'history', ...HISTORY },
  {
    title: 'doctor',
    commands:
      'ping time info config|get scan type pttl hget hlen hkeys acl|whoami acl|dryrun'.split(' '),
    keys: [...READING.keys.filter((one) => one !== 'holdfast_round'), 'holdfast_request'],
  },
  { title: 'dashboard', ...together([LISTING, HISTORY]) },
  { title: 'dashboard with release', ...together([LISTING, HISTORY, FORCING]) },
  {
    title: 'recordHistory',
    commands: ['multi', 'exec', 'xadd', 'pexpire'],
    keys: ['holdfast_history'],
  },
]

function needsOf(scripts) {
  const commands = new Set()
  const keys = new Set()
  const channels = new Set()
  for (const name of scripts) {
    const folder = LIKE[name] ?? name.split('/')[0]
    const script = readScript(name)
    for (const command of script.commands) commands.add(command)
    const ofMasters = scripts.includes('quorum/vote') || folder !== 'lock'
    const isHere = (key) => key !== 'forced' || ofMasters
    for (const key of [...script.keys, ...script.args.filter((one) => one === 'prefix')]) {
      for (const one of [OF_FOLDER[folder]?.[key] ?? key].flat()) {
        if (isHere(one)) keys.add(OF_FOLDER[folder]?.[one] ?? KEYS[one] ?? one)
      }
    }
    if (script.args.includes('birth') && ofMasters && name !== 'lock/batch')
      keys.add('holdfast_birth')
    if (script.args.includes('channel')) channels.add(CHANNELS[folder])
    if (script.args.includes('tickets')) channels.add('holdfast_tickets')
    if (script.args.includes('inbox')) channels.add('holdfast_inbox')
  }
  return { commands: [...commands], keys: [...keys], channels: [...channels] }
}

/** @returns all of them, each once */
function together(all) {
  const of = (field) => [...new Set(all.flatMap((one) => one[field] ?? []))]
  return { commands: of('commands'), keys: of('keys'), channels: of('channels') }
}

/** Keys and channels that belong to no lock, so that their names do not have the prefix. */
const WITHOUT_PREFIX = {
  holdfast_client: 'holdfast_client:*',
  holdfast_birth: 'holdfast_birth',
  holdfast_history: 'holdfast_history',
  holdfast_requests: 'holdfast_requests:*',
  holdfast_inbox: 'holdfast_inbox:*',
}

/** The `keyPrefix` of the lists. */
const PREFIX = 'app:'

/**
 * @param {{ commands: string[], keys?: string[], channels?: string[] }} needs
 * @returns {string[][]} the words of `ACL SETUSER` behind the login: keys, channels and commands
 */
export function wordsOf({ commands, keys = [], channels = [] }) {
  const key = (name) => {
    if (name === '') return `~${PREFIX}*`
    if (name === 'braces') return `~{${PREFIX}*`
    return `~${WITHOUT_PREFIX[name] ?? `${name}:{${PREFIX}*`}`
  }
  const channel = (name) => {
    const own = WITHOUT_PREFIX[name]
    if (own !== undefined) return `&${own}`
    const start = name.endsWith('__') && name !== 'redisson_lock__channel' ? name : `${name}:`
    return `&${start}{${PREFIX}*`
  }
  return [
    [...new Set(keys.map(key))].sort(),
    channels.map(channel).sort(),
    [...commands].sort().map((command) => `+${command}`),
  ]
}
