// Chaos: client processes use locks in every way on real servers, while networks, processes and
// servers fail in every way; a process apart from all that writes down who was inside when.
// `npm run build`, then `node test/chaos/run.mjs [--world single|quorum3|quorum5|sentinel] [--seconds 60]
// [--seed n] [--clients 3] [--callers 6] [--forget] [--force] [--history file] [--plot file.svg]`. It ends with 1 where it finds what must
// not be, with the seed, the faults and the histories that show it. That it would find it is shown by
// `--break exclusion`, a lock for each process, and `--break validity`, holders who never look at their
// leases.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Holdfast } from '../../dist/esm/index.js'
import { isConvicted } from './checkers/check.mjs'
import { printReport } from './checkers/print.mjs'
import { storm } from './faults.mjs'
import { Way } from './proxy.mjs'
import { now, randomFrom } from './random.mjs'
import { Server, Watched, WORLDS } from './worlds.mjs'

const { values: args } = parseArgs({
  options: {
    world: { type: 'string', default: 'single' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    clients: { type: 'string', default: '3' },
    callers: { type: 'string', default: '6' },
    forget: { type: 'boolean', default: false },
    force: { type: 'boolean', default: false },
    break: { type: 'string', default: '' },
    history: { type: 'string', default: '' },
    plot: { type: 'string', default: '' },
    verbose: { type: 'boolean', default: false },
  },
})
const seed = Number(args.seed)
const random = randomFrom(seed)
const { servers: serverCount, isQuorum, isWatched = false } = WORLDS[args.world]
const persistent = !isQuorum && !isWatched && !args.forget
const LIMITS = { leaseMs: 1_500, commandTimeoutMs: 300, outageMs: 1_500 }
const LONGEST_LEASE_MS = 3_000
const NAMES = isQuorum
  ? ['plain-a', 'plain-b', 'plain-c', 'cold-1', 'cold-2', 'cold-3']
  : ['plain-a', 'plain-b', 'fair-a', 'fair-b', 'mixed-a', 'cold-1', 'cold-2']

const startedAt = now()
const clock = () => ((now() - startedAt) / 1_000).toFixed(2).padStart(7)
const timeline = []
const violations = []
const say = (line) => {
  timeline.push(line)
  if (args.verbose) console.log(line)
}

const watched = isWatched ? await Watched.start() : undefined
const servers =
  watched?.servers ??
  (await Promise.all(Array.from({ length: serverCount }, () => Server.start(persistent))))
if (isQuorum) {
  const first = new Holdfast({
    masters: servers.map(({ port }) => `redis://127.0.0.1:${port}`),
    newDeployment: true,
    longestLeaseMs: LONGEST_LEASE_MS,
    ...LIMITS,
  })
  await first.getLock('first').using(() => {})
  await first.close()
}
const witness = fork(new URL('witness.mjs', import.meta.url))
const [{ port: witnessPort }] = await once(witness, 'message')
const fromWitness = async (message, key) => {
  witness.send(message)
  for (;;) {
    const [answer] = await once(witness, 'message')
    if (key in answer) return answer[key]
  }
}

let windows = 0
/** From now on, until the result is called, a lock may be given away although somebody has it. */
function forgets(lock) {
  windows += 1
  const id = windows
  witness.send({ kind: 'forgets', id, lock })
  return () => witness.send({ kind: 'forgot', id })
}

class Client {
  tallies = []
  #dead = false

  constructor(label, ways) {
    this.label = label
    this.ways = ways
  }

  start() {
    this.#dead = false
    const urls = this.ways.map(({ port }) => `redis://127.0.0.1:${port}`)
    const place = isQuorum
      ? { masters: urls, longestLeaseMs: LONGEST_LEASE_MS }
      : { redis: watched?.options ?? urls[0] }
    const settings = {
      label: this.label,
      seed: Math.floor(random() * 2 ** 31),
      options: { ...place, ...LIMITS },
      names: NAMES,
      callers: Number(args.callers),
      witnessPort,
      isQuorum,
      force: args.force,
      broken: args.break,
    }
    this.process = fork(new URL('client.mjs', import.meta.url), [JSON.stringify(settings)])
    this.process.on('message', ({ violation, tally, failures }) => {
      if (violation !== undefined) {
        violations.push(`${clock()} ${violation}`)
        console.log(`${clock()} VIOLATION ${violation}`)
      }
      if (tally !== undefined) this.tallies.push({ tally, failures })
    })
  }

  async killed(ms) {
    if (this.#dead) return
    this.#dead = true
    this.process.kill('SIGKILL')
    await pause(ms)
    this.start()
  }

  async paused(ms) {
    this.process.kill('SIGSTOP')
    await pause(ms)
    this.process.kill('SIGCONT')
  }

  async stalled(ms) {
    if (!this.#dead) this.process.send({ kind: 'stall', ms }, () => {})
    await pause(ms)
  }

  async stop() {
    const done = new Promise((resolve) => {
      this.process.on('message', ({ tally }) => tally && resolve('done'))
    })
    this.process.send({ kind: 'stop' })
    const how = await Promise.race([done, pause(60_000, 'hangs')])
    if (how === 'hangs') violations.push(`${this.label} does not end`)
    this.process.kill('SIGKILL')
  }
}

const clients = await Promise.all(
  Array.from({ length: Number(args.clients) }, async (_, i) => {
    // What Sentinels name is not to be had through a way of ours.
    const ways = isWatched ? [] : await Promise.all(servers.map(({ port }) => new Way(port).open()))
    return new Client(`client ${i + 1}`, ways)
  }),
)
for (const client of clients) client.start()
await pause(500)

let faults = 0
/** When something was wrong, so that nobody need have been let in. */
const troubles = []
const faultSpans = []
const log = async (what, ms, work) => {
  faults += 1
  const begin = now()
  say(`${clock()} ${what}, ${ms.toFixed(0)} ms`)
  await work
  troubles.push([begin, now()])
  faultSpans.push({ what, from: begin, to: now() })
}
const end = now() + Number(args.seconds) * 1_000
const stage = {
  clients,
  servers,
  isQuorum,
  persistent,
  watched,
  names: NAMES,
  withAmnesia: args.forget && !isWatched,
  longestLeaseMs: LONGEST_LEASE_MS,
  // A minority that forgets is nothing to a quorum.
  forgets: () => (isQuorum ? () => {} : forgets()),
}
const isOver = () => now() > end
while (!isOver()) {
  // A storm, and then a calm in which the order of queues and who gets in can be judged.
  const stormEnd = now() + 20_000
  const isCalm = () => isOver() || now() > stormEnd
  await Promise.all([
    storm(stage, random, isCalm, log),
    storm({ ...stage, withAmnesia: false, servers: [] }, random, isCalm, log),
  ])
  if (!isOver()) await pause(12_000)
}
say(`${clock()} all faults are over`)
await pause(LIMITS.leaseMs + LIMITS.outageMs + 1_000)
const calm = now()
const before = await fromWitness({ kind: 'count' }, 'entered')
await pause(1_000)
const after = await fromWitness({ kind: 'count' }, 'entered')
if (after === before) violations.push('nobody is let in any more after the faults')
await Promise.all(clients.map((client) => client.stop()))
const verdict = await fromWitness({ kind: 'judge' }, 'verdict')
const report = await fromWitness(
  {
    kind: 'check',
    about: { world: args.world, seed, startedAt, calmAt: calm, mayLose: isQuorum },
    faults: faultSpans,
    files: { history: args.history, plot: args.plot },
  },
  'report',
)

// What is abandoned ends with its lease, a queue with its heartbeat.
const left = new Set()
for (const wait = now() + 12_000; now() < wait; await pause(200)) {
  left.clear()
  for (const { admin } of watched === undefined ? servers : [await watched.master()]) {
    for (const key of await admin.keys('*')) {
      const isCounter = key.startsWith('redisson_lock_token:')
      const ttlMs = await admin.pttl(key)
      if (key === 'holdfast_birth' || (isCounter && ttlMs > 0)) continue
      left.add(`${key} (${ttlMs} ms)`)
    }
  }
  if (left.size === 0) break
}
for (const key of left) violations.push(`left behind: ${key}`)

// While nothing is wrong somebody gets in soon.
const mostMs = LONGEST_LEASE_MS + LIMITS.leaseMs + LIMITS.outageMs + 2_000
for (const [i, at] of verdict.entries.entries()) {
  const from = verdict.entries[i - 1] ?? at
  if (at - from < mostMs || at > calm) continue
  const quiet = longestQuiet(from, at)
  if (quiet >= mostMs)
    violations.push(`nobody was let in for ${quiet.toFixed(0)} ms without a fault`)
}

function longestQuiet(from, to) {
  let longest = 0
  let at = from
  for (const [begin, over] of troubles) {
    if (over < from || begin > to) continue
    longest = Math.max(longest, begin - at)
    at = Math.max(at, over)
  }
  return Math.max(longest, to - at)
}

const tallies = clients.flatMap(({ tallies: some }) => some)
const failures = {}
for (const one of tallies) {
  for (const [what, n] of Object.entries(one.failures)) failures[what] = (failures[what] ?? 0) + n
}
const seconds = (now() - startedAt) / 1_000
console.log(
  `world ${args.world}${args.forget ? ', forgets' : ''}${args.force ? ', force' : ''}, seed ${seed}: ` +
    `${verdict.holds} acquisitions, ${faults} faults in ${seconds.toFixed(0)} s; ` +
    `overlaps ${verdict.overlaps.length}, tokens out of order ${verdict.regressions.length}, ` +
    `tokens twice ${verdict.repeated.length}, excused overlaps ${verdict.excused} ` +
    `(longest ${verdict.longestExcusedMs.toFixed(0)} ms), other violations ${violations.length}`,
)
console.log(JSON.stringify(failures))
printReport(report)
const shown = [
  ...verdict.overlaps.slice(0, 5).map((one) => ['overlap', one]),
  ...verdict.regressions.slice(0, 5).map((one) => ['token out of order', one]),
  ...verdict.repeated.slice(0, 5).map((one) => ['token twice', one]),
]
for (const [what, { lock, ms, first, second }] of shown) {
  console.log(`${what} on ${lock}${ms === undefined ? '' : `, ${ms.toFixed(1)} ms`}`)
  for (const hold of [first, second]) console.log(`  ${historyOf(hold)}`)
}
if (isConvicted(report)) process.exitCode = 1
if (shown.length + violations.length > 0) {
  for (const one of violations.slice(0, 20)) console.log(one)
  console.log('faults:')
  for (const line of timeline.slice(-200)) console.log(`  ${line}`)
  process.exitCode = 1
}
witness.kill()
for (const { ways } of clients) for (const way of ways) way.close()
await watched?.stop()
await Promise.all(servers.map((server) => server.stop()))
setTimeout(() => process.exit(), 100).unref()

function historyOf({ id, askedAt, enteredAt, leftAt, validUntil, token }) {
  const at = (time) => (time === undefined ? 'never' : ((time - startedAt) / 1_000).toFixed(4))
  return `${id}: asked ${at(askedAt)}, entered ${at(enteredAt)}, left ${at(leftAt)}, valid until ${at(validUntil)}, token ${token}`
}
