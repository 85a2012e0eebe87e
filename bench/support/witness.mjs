// Observes the locks from outside, for the measurements of the fair lock. It reads the actions of Redis in their
// order, from MONITOR, and a journal in Redis that the holders write.
import { connect } from 'node:net'
import { Redis } from 'ioredis'
import * as fair from '../../.cache/modules/src/servers/redis/scripts/fair.generated.js'

/** The prefix of the keys of the journal. */
export const JOURNAL = 'journal:'

/** The scripts by the names that MONITOR shows: their hash, or the beginning of their text. */
const SCRIPTS = new Map(
  [fair.acquire, fair.batch, fair.heartbeat, fair.release].flatMap(({ script }) => [
    [script.sha1, script],
    [beginning(script.source.replaceAll('\n', '\\n')), script],
  ]),
)

function beginning(source) {
  return source.slice(0, 40)
}

/** The calls of `fair.acquire` and `fair.release` in one request. A batch has several calls. */
function callsOf([, text, count, ...words]) {
  const script = SCRIPTS.get(text) ?? SCRIPTS.get(beginning(text))
  const keys = words.slice(0, Number(count))
  const args = words.slice(Number(count))
  if (script === fair.acquire.script || script === fair.release.script) {
    const argument = (name) => args[script.args.indexOf(name)]
    const [owner, token, ticket] = ['owner', 'token', 'ticket'].map(argument)
    const isRelease = script === fair.release.script
    const served = isRelease ? args.slice(script.args.indexOf('served')) : []
    return [{ isRelease, lock: keys[0], owner, token, ticket, served }]
  }
  if (script !== fair.batch.script) return []
  const kinds = args[script.args.indexOf('kinds')].matchAll(/([a-z])(\d+)/g)
  const own = args.slice(script.args.indexOf('own'))
  return [...kinds].map(([, kind, length]) => {
    const isRelease = kind === 'r'
    const [lock] = keys.splice(0, (isRelease ? fair.release : fair.acquire).script.keys.length)
    const [owner, second, third, ...served] = own.splice(0, Number(length))
    return isRelease
      ? { isRelease, lock, owner, token: second, served }
      : { isRelease, lock, owner, ticket: third }
  })
}

/**
 * Calls `onLine(words, inScript, seconds)` for each later command of the server. `seconds` is the time of the server,
 * as text.
 */
export async function openMonitor(port, onLine) {
  const socket = connect(port, '127.0.0.1')
  let rest = ''
  const confirmed = new Promise((resolve, reject) => {
    socket.once('data', resolve)
    socket.once('error', reject)
  })
  socket.setEncoding('latin1')
  socket.on('data', (chunk) => {
    const lines = (rest + chunk).split('\r\n')
    rest = lines.pop()
    for (const line of lines) {
      const at = line.indexOf('] "')
      if (at === -1) continue
      const words = line.slice(at + 3, -1).split('" "')
      onLine(words, line.slice(at - 4, at) === ' lua', line.slice(1, line.indexOf(' ')))
    }
  })
  socket.write('MONITOR\r\n')
  await confirmed
  return {
    /** Resolves when MONITOR has shown all commands before this call. */
    async caughtUp(admin) {
      const mark = `caught up ${Math.random()}`
      const seen = new Promise((resolve) => {
        const inner = onLine
        onLine = (words, ...others) => {
          if (words[1] === mark) resolve()
          inner(words, ...others)
        }
      })
      await admin.echo(mark)
      await seen
    },
    close: () => socket.destroy(),
  }
}

/**
 * Judges fair locks by the lines of MONITOR. The order of arrivals is the order in which requests reached Redis, not
 * the order of the tickets. A grant is the write of an owner into the hash. For a waiter that its client serves in a run,
 * the grant is the release that lists this waiter as served.
 */
export class FairJudge {
  /** Attempts that may wait, for all locks. */
  arrivals = 0
  /** Attempts that gave up. */
  departures = 0
  grants = 0
  /** Grants to a waiter although an earlier waiter was still in the queue. */
  inversions = 0
  /** Grants of an attempt after its first grant. */
  repeated = 0
  /** Grants that the server ended at once, because no client listened. */
  passedOver = 0
  #isLock
  #queues = new Map()
  #granted = new Set()
  #fresh = ''

  /** @param isLock returns true if a key is the name of a lock */
  constructor(isLock) {
    this.#isLock = isLock
  }

  see(words, inScript) {
    const [command, first, second] = words
    if (inScript) {
      if (command === 'HSET' && this.#isLock(first)) this.#grant(first, second)
      if (command === 'DEL' && first === this.#fresh) this.passedOver += 1
      return
    }
    this.#fresh = ''
    if (!command.startsWith('eval')) return
    for (const call of callsOf(words)) if (this.#isLock(call.lock)) this.#seeCall(call)
  }

  #seeCall({ isRelease, lock, owner, token, ticket, served }) {
    const queue = this.#queueOf(lock)
    if (isRelease) {
      for (const [n, one] of served.entries()) this.#serve(queue, one, served.slice(n + 1))
      if (token === '' && queue.delete(owner)) this.departures += 1
    } else if (ticket === '') {
      // A request with a ticket is not the first request of its attempt. A request that does not wait has no place.
      if (!queue.has(owner)) this.arrivals += 1
      queue.set(owner, true)
    }
  }

  #grant(lock, owner) {
    const queue = this.#queueOf(lock)
    const [first] = queue.keys()
    if (first !== undefined && first !== owner) this.inversions += 1
    queue.delete(owner)
    if (this.#granted.has(owner)) this.repeated += 1
    this.#granted.add(owner)
    this.#fresh = lock
    this.grants += 1
  }

  /**
   * Called for each waiter that its client served in a run, in their order. A release that is sent twice lists a waiter
   * twice. A waiter of the same client that has given up may still be in the queue.
   */
  #serve(queue, owner, later) {
    if (!queue.has(owner)) return
    const [first] = queue.keys()
    const isOther = first.split(':')[0] !== owner.split(':')[0]
    if (first !== owner && (isOther || later.includes(first))) this.inversions += 1
    queue.delete(owner)
    this.grants += 1
  }

  #queueOf(lock) {
    if (!this.#queues.has(lock)) this.#queues.set(lock, new Map())
    return this.#queues.get(lock)
  }
}

/** The journal of the holders, on a separate connection. */
export class Journal {
  #redis

  constructor(url) {
    this.#redis = new Redis(url)
  }

  /** The holder calls this as its first action. `leave` is its last action. */
  enter(lease) {
    return this.#redis.rpush(JOURNAL + lease.name, `+ ${lease.token} ${lease.owner}`)
  }

  leave(lease) {
    return this.#redis.rpush(JOURNAL + lease.name, `- ${lease.token} ${lease.owner}`)
  }

  length(name) {
    return this.#redis.llen(JOURNAL + name)
  }

  /** Reads the journal of one lock: its holders in their order, and the errors. */
  async read(name) {
    const inside = new Set()
    const owners = []
    let overlaps = 0
    let regressions = 0
    let last = 0
    for (const line of await this.#redis.lrange(JOURNAL + name, 0, -1)) {
      const [way, token, owner] = line.split(' ')
      if (way === '-') {
        inside.delete(owner)
        continue
      }
      if (inside.size > 0) overlaps += 1
      if (Number(token) <= last) regressions += 1
      inside.add(owner)
      owners.push(owner)
      last = Number(token)
    }
    return { owners, overlaps, regressions }
  }

  close() {
    this.#redis.disconnect()
  }
}

/** These keys end by themselves: token counters, and the reports of clients. */
const PASSING = /^(redisson_lock_token|holdfast_client):/

/** The other keys of locks that exist now. */
export async function keysLeft(admin) {
  const keys = await admin.keys('*')
  return keys.filter((key) => !key.startsWith(JOURNAL) && !PASSING.test(key))
}

/** Checks repeatedly for keys of locks without a TTL. */
export function watchTtls(admin, everyMs = 50) {
  const found = new Set()
  let looks = 0
  let looking = Promise.resolve()
  const timer = setInterval(() => {
    looking = looking.then(look)
  }, everyMs)
  async function look() {
    // One script reads all keys, so no key changes between two commands of the check.
    const bare = await admin.eval(
      "local bare = {} for _, key in ipairs(redis.call('KEYS', '*')) do " +
        "if redis.call('PTTL', key) == -1 then bare[#bare + 1] = key end end return bare",
      0,
    )
    looks += 1
    for (const key of bare) if (!key.startsWith(JOURNAL)) found.add(key)
  }
  return {
    /** @returns the keys without a TTL, and the number of checks */
    async stop() {
      clearInterval(timer)
      await looking
      return { bare: [...found], looks }
    },
  }
}
