// The rights that each kind of lock and each tool needs: commands, keys and channels. Most rights follow from the
// scripts. Commands that are sent without a script are listed here. test/places/acl-*.test.ts check that no right is
// missing, and that each right is needed.
import { SCRIPT_KINDS, scriptsOf } from '../kinds/kind.mjs'
import { BIRTH, KIND_NAMES, NAMES } from './key-names.mjs'
import { readScript } from './script-commands.mjs'

const { ELECTION_NAMES, FAIR_NAMES, LATCH_NAMES, PERMIT_NAMES } = KIND_NAMES

/** The prefixes of the keys that each folder may have, by their names in the headers. `''` is the key of the lock itself. */
const KEYS = {
  ...{ lock: '', latch: '', barrier: '', pool: '', semaphore: '' },
  ...NAMES.lock,
  ...NAMES.number,
  ...{
    answered: NAMES.number.request,
    taking: NAMES.number.request,
    timeouts: 'braces',
    prefix: 'braces',
  },
  ...{ client: NAMES.client.report, birth: BIRTH },
}
const LOCK_AND_FAIR = { ...NAMES.lock, ...FAIR_NAMES }
/** The other keys of a folder, and its channel. */
const OF_FOLDER = {
  ...{ lock: LOCK_AND_FAIR, fair: LOCK_AND_FAIR, quorum: NAMES.lock },
  ...ofKinds(({ names }) => names),
}
const LOCK_KEYS = ['lock', 'counter']
/** The keys in each list of keys, by the name of the list in the headers. */
const LISTS = {
  lock: { all: LOCK_KEYS, both: LOCK_KEYS, keys: LOCK_KEYS },
  fair: {
    all: [...LOCK_KEYS, 'queue', 'waiting', 'javaQueue', 'javaTimeouts'],
    locks: [...LOCK_KEYS, 'queue', 'waiting'],
  },
  ...ofKinds(({ lists }) => lists),
}

function ofKinds(fieldOf) {
  return Object.fromEntries([...SCRIPT_KINDS].map(([folder, kind]) => [folder, fieldOf(kind)]))
}

/** For each script of the tools, the folder whose names of keys the script uses. */
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
const FAIR = of('fair', ['acquire', 'batch', 'heartbeat', 'release'])
const PLAIN = of('lock', LOCK)

/** The commands of every client. It connects, subscribes, reports about itself and reads reports of other clients. */
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
/** A client asks a holder to release, and the holder answers. */
const REQUESTS = { commands: ['publish'], channels: [NAMES.client.requests] }

const kind = (title, scripts, more = {}) => ({
  title,
  ...together([needsOf(['presence/touch', ...scripts]), { commands: CLIENT }, more]),
})

/** A client without holds has no notes about holds, and deletes none. */
const FOR_NOTES = ['hdel']
const FOR_MESSAGES = ['subscribe', 'unsubscribe']

function kindOf([folder, kindOfScripts]) {
  const { title, hasOwners = false, usesLocks = false } = kindOfScripts
  const { hasNotes = true, hasMessages = true } = kindOfScripts
  const scripts = [...(usesLocks ? PLAIN : []), ...scriptsOf(folder)]
  const { commands, ...rest } = kind(title, scripts, hasOwners ? REQUESTS : {})
  const unused = [...(hasNotes ? [] : FOR_NOTES), ...(hasMessages ? [] : FOR_MESSAGES)]
  return { ...rest, commands: commands.filter((one) => !unused.includes(one)) }
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
    together([REQUESTS, { channels: [ELECTION_NAMES.channel] }]),
  ),
]

const askedOf = (field) =>
  [...SCRIPT_KINDS.values()].flatMap((one) => (one[field] ?? []).map((name) => one.names[name]))

/** The commands and keys of `readLocks` in tools/inspection/redis, for the rows of locks. */
const READING_ROWS = {
  commands:
    'ping time type get hgetall hget lrange pttl exists zcard zcount zrange zrangebyscore pubsub|numsub'.split(
      ' ',
    ),
  keys: [
    ...['', 'braces', NAMES.lock.counter, FAIR_NAMES.queue, FAIR_NAMES.waiting, NAMES.number.kind],
    ...askedOf('asked'),
    NAMES.client.report,
  ],
}
/** The same with everything about one lock. */
const READING = together([READING_ROWS, { keys: askedOf('askedInFull') }])
const LISTING = together([READING_ROWS, { commands: ['scan', 'hrandfield', 'mget'] }])
const FORCING = together([
  needsOf(Object.keys(LIKE)),
  { commands: ['eval', 'xadd'], keys: ['holdfast_history'] },
])
const HISTORY = { commands: ['xrevrange', 'xread'], keys: ['holdfast_history'] }

export const TOOLS = [
  { title: 'list', ...LISTING },
  { title: 'inspect', ...together([READING, { commands: ['scan'] }]) },
  { title: 'watch', ...LISTING },
  { title: 'leaks', ...together([LISTING, READING]) },
  {
    title: 'release --ask',
    ...together([
      READING,
      {
        commands: ['publish', 'subscribe', 'unsubscribe', 'info'],
        channels: [NAMES.client.requests],
      },
    ]),
  },
  { title: 'release --force', ...together([READING, FORCING]) },
  { title: 'history', ...HISTORY },
  {
    title: 'doctor',
    commands:
      'ping time info config|get scan type pttl hget hlen hkeys acl|whoami acl|dryrun'.split(' '),
    keys: [...READING.keys.filter((one) => one !== LATCH_NAMES.round), NAMES.number.request],
  },
  { title: 'dashboard', ...together([LISTING, READING, HISTORY]) },
  { title: 'dashboard with release', ...together([LISTING, READING, HISTORY, FORCING]) },
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
      for (const one of LISTS[folder]?.[key] ?? [key]) {
        if (isHere(one)) keys.add(prefixOf(folder, one))
      }
    }
    if (script.args.includes('birth') && ofMasters && name !== 'lock/batch') keys.add(BIRTH)
    if (script.args.includes('channel')) channels.add(OF_FOLDER[folder].channel)
    if (script.args.includes('tickets')) channels.add(PERMIT_NAMES.tickets)
    if (script.args.includes('inbox')) channels.add(NAMES.client.inbox)
  }
  return { commands: [...commands], keys: [...keys], channels: [...channels] }
}

function prefixOf(folder, key) {
  const prefix = OF_FOLDER[folder]?.[key] ?? KEYS[key]
  if (prefix === undefined) throw new Error(`The key ${key} of lua/${folder}/ has no prefix.`)
  return prefix
}

/** @returns the commands, keys and channels of all, each once */
function together(all) {
  const of = (field) => [...new Set(all.flatMap((one) => one[field] ?? []))]
  return { commands: of('commands'), keys: of('keys'), channels: of('channels') }
}

/** Keys and channels that belong to no lock, so that their names do not have the prefix. */
const WITHOUT_PREFIX = {
  ...Object.fromEntries(Object.values(NAMES.client).map((name) => [name, `${name}:*`])),
  [BIRTH]: BIRTH,
  holdfast_history: 'holdfast_history',
}

/** The `keyPrefix` of the client for which the lists are written. */
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
    const start = name === LATCH_NAMES.channel ? name : `${name}:`
    return `&${start}{${PREFIX}*`
  }
  return [
    [...new Set(keys.map(key))].sort(),
    channels.map(channel).sort(),
    [...commands].sort().map((command) => `+${command}`),
  ]
}
