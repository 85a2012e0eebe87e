// One run: a world, clients that use its locks, storms of faults, and a witness who is asked at the end.
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../dist/esm/index.js'
import { findLeft } from './checks.mjs'
import { ClientProcess, forkGuarded } from './clients.mjs'
import { Monitor } from './monitor.mjs'
import { Way } from './proxy.mjs'
import { now, randomFrom } from './random.mjs'
import { Roles } from './roles.mjs'
import { STORMS, storm } from './storm.mjs'
import { startWorld } from './worlds.mjs'

const LIMITS = { leaseMs: 1_500, commandTimeoutMs: 300, outageMs: 1_500 }
const LONGEST_LEASE_MS = 3_000
/** Faults for so long, then a calm in which the order of queues and who gets in is judged. */
const [STORM_MS, CALM_MS] = [20_000, 12_000]

/** Where one run keeps what happens in it. */
class Stage {
  startedAt = now()
  timeline = []
  violations = []
  faults = {}
  /** From when to when something was wrong. */
  spans = []
  #windows = 0

  constructor(options) {
    this.options = options
    this.random = randomFrom(options.seed)
  }

  at = (time = now()) => ((time - this.startedAt) / 1_000).toFixed(2).padStart(7)

  say(line, time) {
    this.timeline.push(`${this.at(time)} ${line}`)
    if (this.options.verbose) console.log(this.timeline.at(-1))
  }

  violated(what) {
    this.violations.push(what)
    console.log(`${this.at()} VIOLATION ${what}`)
  }

  log = async (ms, { what, where, done }) => {
    this.faults[what] = (this.faults[what] ?? 0) + 1
    const begin = now()
    this.say(`${what}, ${where}, ${ms.toFixed(0)} ms`)
    await done
    this.spans.push({ what, where, from: begin, to: now() })
  }

  /** For so long a lock may be given away although somebody has it. */
  lost({ lock, from, to }) {
    this.#windows += 1
    const id = this.#windows
    // Masters of a quorum count on from tokens of their own, whose first only is a time.
    const tokensTellTime = !this.world.isQuorum
    this.witness.send({ kind: 'forgets', id, lock, from, tokensTellTime })
    this.witness.send({ kind: 'forgot', id, to })
  }

  async ask(message, key) {
    this.witness.send(message)
    for (;;) {
      const [answer] = await once(this.witness, 'message')
      if (key in answer) return answer[key]
    }
  }
}

/** @returns what was found: figures, violations and the histories that show them */
export async function runStage(options) {
  const stage = new Stage(options)
  stage.world = await startWorld(options.world, options)
  stage.witness = forkGuarded(new URL('witness.mjs', import.meta.url))
  const [{ port }] = await once(stage.witness, 'message')
  if (stage.world.isQuorum) await foundQuorum(stage.world)
  const clients = await openClients(stage, port)
  const roles = watchRoles(stage)
  const monitor = options.monitor ? new Monitor(stage.world.servers) : undefined
  for (const client of clients) client.start()
  await pause(500)
  await weather(stage, clients, roles)
  stage.say('all faults are over')
  const { verdict, report, left } = await conclude(stage, clients, roles)
  for (const one of left) stage.violated(one)
  monitor?.stop()
  stage.witness.kill()
  for (const { ways } of clients) for (const way of ways) way.close()
  await stage.world.stop()
  const { startedAt, timeline, violations, faults } = stage
  const failures = sumOf(clients.flatMap(({ tallies }) => tallies.map((one) => one.failures)))
  const seconds = (now() - startedAt) / 1_000
  return {
    ...options,
    startedAt,
    seconds,
    timeline,
    violations,
    faults,
    verdict,
    report,
    failures,
    left,
    monitor,
  }
}

async function foundQuorum({ placeBy, servers }) {
  const settings = { newDeployment: true, longestLeaseMs: LONGEST_LEASE_MS, ...LIMITS }
  const first = new Holdfast({ ...placeBy(servers), ...settings })
  await first.getLock('first').using(() => {})
  await first.close()
}

function openClients(stage, witnessPort) {
  const { options, world, random } = stage
  return Promise.all(
    Array.from({ length: options.clients }, async (_, i) => {
      const ways = await Promise.all(world.targets.map((one) => new Way(one.port).open()))
      for (const [j, { ways: all }] of world.targets.entries()) all.push(ways[j])
      const { isQuorum, names } = world
      const longest = isQuorum ? { longestLeaseMs: LONGEST_LEASE_MS } : {}
      const place = { ...world.placeBy(ways), ...longest, ...LIMITS }
      const { callers, fast, force, broken, control } = options
      const settings = () => ({
        seed: Math.floor(random() * 2 ** 31),
        options: place,
        ...{ names, callers, fast, witnessPort, isQuorum, force, broken, control },
      })
      const file = control ? 'controls/client.mjs' : 'client.mjs'
      const tell = (what) => stage.violated(what)
      return new ClientProcess(`client ${i + 1}`, ways, { file, settings, tell })
    }),
  )
}

function watchRoles(stage) {
  if (!stage.world.isReplicated) return undefined
  return new Roles(stage.world, ({ from, to, ports }) => {
    stage.say(`since ${stage.at(from).trim()} masters have changed: now ${ports}`, to)
    stage.lost({ from, to })
  })
}

async function weather(stage, clients, roles) {
  const { options, world, random } = stage
  const start = now()
  const end = start + options.seconds * 1_000
  const isOver = () => now() > end
  const isCalm = () => (now() - start) % (STORM_MS + CALM_MS) > STORM_MS
  const forgets = (lock, isForgiven) => {
    const from = now()
    return () => {
      if (isForgiven) stage.witness.send({ kind: 'emptied', from, to: now() })
      else stage.lost({ lock, from, to: now() })
    }
  }
  const part = {
    ...{ clients, world, forgets },
    roles,
    forgetful: world.isQuorum || options.forget,
    longestLeaseMs: LONGEST_LEASE_MS,
  }
  const pace = (everyMs) => ({ isOver, isCalm, everyMs })
  if (options.control) {
    await storm(STORMS.pauses(part), random, pace(500), stage.log)
    return
  }
  await Promise.all([
    storm(STORMS.clients(part), randomFrom(random() * 2 ** 31), pace(2_000), stage.log),
    storm(STORMS.clients(part), randomFrom(random() * 2 ** 31), pace(2_000), stage.log),
    storm(STORMS.servers(part), randomFrom(random() * 2 ** 31), pace(2_500), stage.log),
    storm(STORMS.losses(part), randomFrom(random() * 2 ** 31), pace(1_500), stage.log),
  ])
}

/** After the last fault: all names are used again, all clients end, and the witness is asked. */
async function conclude(stage, clients, roles) {
  await pause(LIMITS.leaseMs + LIMITS.outageMs + 1_000)
  const calmAt = now()
  const before = await stage.ask({ kind: 'count' }, 'entered')
  let stuck = stage.options.control ? [] : stage.world.names
  for (let i = 0; i < 120 && stuck.length > 0; i++) {
    await pause(250)
    const after = await stage.ask({ kind: 'count' }, 'entered')
    stuck = stuck.filter((name) => (after[name] ?? 0) === (before[name] ?? 0))
  }
  for (const name of stuck) {
    stage.violated(
      `${name}: nobody is let in any more after the faults; ${await seen(stage, name)}`,
    )
  }
  for (const wrong of await Promise.all(clients.map((client) => client.stop()))) {
    if (wrong !== undefined) stage.violated(wrong)
  }
  // A busy machine may change masters by itself.
  await roles?.stop()
  const verdict = await stage.ask({ kind: 'judge' }, 'verdict')
  if (stage.options.control) return { verdict, left: [] }
  const report = await check(stage, calmAt)
  return { verdict, report, left: await findLeft(stage.world) }
}

function check(stage, calmAt) {
  const { options, startedAt, spans } = stage
  const { seed, history, plot } = options
  const about = { world: options.world, seed, startedAt, calmAt }
  return stage.ask({ kind: 'check', about, faults: spans, files: { history, plot } }, 'report')
}

/** What the masters have of a lock. */
async function seen({ world }, name) {
  const all = await Promise.all(
    (await world.masters()).map(async ({ admin, port }) => {
      const facts = [admin.hgetall(name), admin.pttl(name)]
      const [holder, ttlMs] = await Promise.all(facts).catch((error) => [`${error}`])
      return `${port}: ${JSON.stringify(holder)} for ${ttlMs} ms`
    }),
  )
  return all.join('; ')
}

function sumOf(all) {
  const sum = {}
  for (const one of all) for (const what in one) sum[what] = (sum[what] ?? 0) + one[what]
  return sum
}
