// A process with one client at a time and many callers, who use locks in every way that there is, and
// tell the witness what they do. Started by run.mjs with what it needs in `process.argv[2]`.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { Cluster } from 'ioredis'
import { Holdfast, HoldfastError } from '../../dist/esm/index.js'
import { openDoors } from './doors.mjs'
import { now, pick, pickWeighted, randomFrom } from './random.mjs'

const settings = JSON.parse(process.argv[2])
const { label, seed, options, names, callers, fast, witnessPort, isQuorum, force, broken } =
  settings
const random = randomFrom(seed)
const tally = { acquired: 0, refused: 0, aborted: 0, lost: 0, violations: [] }
const failures = new Map()
let running = true
let client = open()

function open() {
  const { cluster, ...others } = options
  // One that is never connected: the client duplicates it.
  const place = cluster && {
    redis: new Cluster(cluster.nodes, { natMap: cluster.natMap, lazyConnect: true }),
  }
  const made = new Holdfast({ ...others, ...place })
  made.on('error', () => {})
  return made
}

function violation(what) {
  tally.violations.push(what)
  if (tally.violations.length < 20) process.send({ violation: `${label}: ${what}` })
}
process.on('unhandledRejection', (error) =>
  violation(`unhandled ${error?.stack ?? error} ${JSON.stringify({ ...error })}`),
)
process.on('uncaughtException', (error) => violation(`uncaught ${error?.stack ?? error}`))

/** How late the event loop was at most lately: what was late for that reason is no fault of a lock. */
let lagMs = 0
let lastBeat = now()
setInterval(() => {
  lagMs = Math.max(now() - lastBeat - 50, lagMs * 0.98)
  lastBeat = now()
}, 50).unref()

class Witness {
  #socket = connect(witnessPort, '127.0.0.1')
  #waiting = new Map()
  /** What is told in one turn of the event loop goes together. */
  #lines = []
  #ids = 0

  constructor() {
    this.#socket.setNoDelay(true)
    createInterface({ input: this.#socket }).on('line', (id) => {
      this.#waiting.get(id)?.()
      this.#waiting.delete(id)
    })
  }

  /** @returns an id for what follows; resolves when the witness has written it down */
  async ask(lock) {
    this.#ids += 1
    const id = `${label}.${process.pid}.${this.#ids}`
    await this.tell('ask', id, { lock, client: id })
    return id
  }

  tell(kind, id, said = {}) {
    if (this.#lines.push(JSON.stringify({ kind, id, ...said })) === 1) {
      setImmediate(() => this.#socket.write(`${this.#lines.splice(0).join('\n')}\n`))
    }
    if (kind === 'valid') return Promise.resolve()
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }
}
const witness = new Witness()
// A holder that never looks at its lease: what the judge must convict.
const isValid = (lease) => broken === 'validity' || lease.valid
const validUntil = (lease) => now() + (broken === 'validity' ? 60_000 : lease.remaining())
/** The key of a lock; to each process one of its own is what the judge must convict as well. */
const keyOf = (name) => (broken === 'exclusion' ? `${name} of ${label}` : name)
const nameOf = (lease) =>
  broken === 'exclusion' ? lease.name.replace(` of ${label}`, '') : lease.name

/** Works under leases, until the work is done or the first of them is over. */
async function work(entries, ms) {
  const all = entries.map(({ lease }) => lease)
  if (!all.every(isValid)) {
    await Promise.all(entries.map(({ id }) => witness.tell('drop', id)))
    return
  }
  await Promise.all(
    entries.map(({ id, lease }) =>
      witness.tell('enter', id, { token: lease.token, validUntil: validUntil(lease) }),
    ),
  )
  tally.acquired += entries.length
  const end = now() + ms
  for (let left = ms; left > 0 && all.every(isValid); left = end - now()) {
    await pause(Math.min(left, 20))
    for (const { id, lease } of entries) {
      if (isValid(lease)) void witness.tell('valid', id, { validUntil: validUntil(lease) })
    }
  }
  for (const { lease } of entries) {
    if (lease.valid === lease.signal.aborted) violation('valid and the signal disagree')
  }
  await Promise.all(
    entries.map(({ id, lease }) => {
      const said = isValid(lease) ? { validUntil: validUntil(lease) } : {}
      return witness.tell('leave', id, said)
    }),
  )
}

/** What is acquired together, as `{ lease, id }` of each. */
function entriesOf(lease, ids) {
  const leases = lease.leases ?? [lease]
  return leases.map((one) => ({ lease: one, id: ids.get(nameOf(one)) }))
}

function acquisition() {
  const fixed = random() < 0.4 ? { leaseMs: Math.round(options.leaseMs * (0.3 + random())) } : {}
  if (isQuorum && fixed.leaseMs > options.longestLeaseMs) fixed.leaseMs = options.longestLeaseMs
  return pickWeighted(random, [
    [2, { ...fixed, waitMs: 1 + Math.floor(random() * 3_000) }],
    [1, fixed],
    [1, { ...fixed, waitMs: 3_000, signal: AbortSignal.timeout(1 + Math.floor(random() * 400)) }],
    // About when the answer comes.
    [0.5, { ...fixed, waitMs: 3_000, signal: AbortSignal.timeout(Math.floor(random() * 4)) }],
  ])
}

/** @param wanted names of locks, to be had together */
async function once(wanted) {
  const mine = client
  const locks = [...new Set(wanted)].sort().map((name) => {
    const fair = !isQuorum && (name.includes('fair') || (name.includes('mixed') && random() < 0.5))
    return fair ? mine.getFairLock(keyOf(name)) : mine.getLock(keyOf(name))
  })
  const ids = new Map()
  for (const name of new Set(wanted)) ids.set(name, await witness.ask(name))
  const lock = locks.length > 1 ? mine.getMultiLock(...locks) : locks[0]
  const meant = acquisition()
  const startedAt = now()
  lagMs *= 0.5
  const ms = pickWeighted(random, [
    [60, 0],
    [wanted[0].startsWith('own-') ? 0 : 30, random() * 5],
    [0.6, random() * 300],
    [0.1, options.leaseMs * (0.5 + random())],
  ])
  let settled = false
  const boundMs = (meant.waitMs ?? 0) + options.outageMs + 1_500
  const watch = setInterval(() => {
    if (settled || now() - startedAt < boundMs + 2 * lagMs + 3_000) return
    clearInterval(watch)
    const took = (now() - startedAt).toFixed(0)
    violation(`${lock.name}: ${JSON.stringify(meant)} is not settled after ${took} ms`)
  }, 500)
  const entered = new Set()
  try {
    const way = random()
    if (way < 0.3) {
      await lock.tryUsing(async (lease) => {
        settled = true
        for (const one of entriesOf(lease, ids)) entered.add(one.id)
        await work(entriesOf(lease, ids), ms)
      }, meant)
    } else {
      const act = async () => {
        const lease = await lock.tryLock(meant)
        settled = true
        if (lease === null) {
          tally.refused += 1
          return
        }
        for (const one of entriesOf(lease, ids)) entered.add(one.id)
        const inner = way > 0.85 && lease.valid ? await again(lock, lease) : undefined
        await work(entriesOf(lease, ids), ms)
        // As one does that crashed: the lease is to end it.
        const abandoned = meant.leaseMs !== undefined && random() < 0.01
        if (!abandoned) await Promise.all([lease.release(), inner?.release()])
        if (lease.valid && !abandoned) violation('valid after its release')
      }
      await (way > 0.85 ? mine.run(act) : act())
    }
  } catch (error) {
    heard(error, meant)
    await pause(random() * 20)
  } finally {
    settled = true
    clearInterval(watch)
    for (const id of ids.values()) if (!entered.has(id)) await witness.tell('drop', id)
  }
}

/** Re-enters, in a frame of `run`. */
async function again(lock, lease) {
  try {
    const inner = await lock.tryLock({ waitMs: 2_000 })
    if (inner === null) {
      if (lease.valid) violation(`${lock.name}: its holder was not let in again`)
    } else if (inner.token !== lease.token && lease.valid) {
      violation(`${lock.name}: re-entered under ${inner.token} while ${lease.token} is valid`)
    }
    return inner ?? undefined
  } catch (error) {
    heard(error, {})
    return undefined
  }
}

const EXPECTED = new Set([
  'HOLDFAST_UNAVAILABLE',
  'HOLDFAST_REFUSED',
  'HOLDFAST_LEASE_LOST',
  'HOLDFAST_NOT_RELEASED',
  'HOLDFAST_CLOSED',
])

function heard(error, { signal }) {
  if (signal?.aborted && error === signal.reason) {
    tally.aborted += 1
  } else if (error instanceof HoldfastError && EXPECTED.has(error.code)) {
    if (error.code === 'HOLDFAST_LEASE_LOST') tally.lost += 1
    // A refusal by the code that the server gave.
    const [code = ''] = /\b(?:[A-Z]{3,}(?= )|max number of clients)/.exec(error.message) ?? []
    const what = error.code === 'HOLDFAST_REFUSED' ? `${error.code} ${code}` : error.code
    failures.set(what, (failures.get(what) ?? 0) + 1)
  } else violation(`${error?.stack ?? error}`)
}

const two = () => [pick(random, names), pick(random, names)]

/** One of those who fight for the same few locks. */
async function call() {
  while (running) {
    const wanted = random() < 0.12 ? two() : [pick(random, names)]
    const way = pickWeighted(random, [
      [8, (job) => job()],
      [1, doors?.request],
      [1, doors?.timer],
    ])
    await (way ?? ((job) => job()))(() => once(wanted))
    if (force && random() < 0.002) {
      const name = pick(random, names)
      const id = `${label}.${process.pid}.${now()}`
      await witness.tell('forces', id, { lock: name })
      await client
        .getLock(name)
        .forceUnlock()
        .catch((error) => heard(error, {}))
      await witness.tell('forced', id)
    }
    if (random() < 0.001) await reopen()
    if (random() < 0.3) await pause(random() * 5)
  }
}

/** One that has locks to itself mostly, or with few others, and loses no time. */
async function hurry(_, i) {
  while (running) {
    const own = `own-${label.replace(' ', '-')}-${i}-${Math.floor(random() * 3)}`
    const name = random() < 0.9 ? own : `light-${Math.floor(random() * 40)}`
    await once([name])
    // The others are to have their turn.
    if (random() < 0.02) await pause(1 + random() * 20)
  }
}

let reopening
function reopen() {
  reopening ??= (async () => {
    const old = client
    client = open()
    const startedAt = now()
    await old.close()
    const tookMs = now() - startedAt
    if (tookMs > 2 * options.commandTimeoutMs + 2 * lagMs + 3_000)
      violation(`close() took ${tookMs} ms`)
    reopening = undefined
  })()
  return reopening
}

/** A synchronous piece of work, as any program may have. */
function stall(ms) {
  for (const end = now() + ms; now() < end; );
}

process.on('message', async ({ kind, ms }) => {
  if (kind === 'stall') stall(ms)
  if (kind === 'reopen') await reopen()
  if (kind === 'stop') {
    running = false
    await calls
    await reopening
    await client.close()
    process.send({ tally, failures: Object.fromEntries(failures) })
  }
})
process.on('disconnect', () => process.exit())
let doors
openDoors(client).then(
  (opened) => {
    doors = opened
  },
  () => {}, // There are none in this life.
)
const calls = Promise.all([
  ...Array.from({ length: callers }, call),
  ...Array.from({ length: fast }, hurry),
])
