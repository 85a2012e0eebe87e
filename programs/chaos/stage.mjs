// One run: a world, clients that use its locks, storms of faults, and the judgment of the witness at the end.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../dist/esm/src/index.js'
import { findLeft, readNumbers } from './checks.mjs'
import { ClientProcess, forkGuarded } from './clients.mjs'
import { prepareControl } from './controls/libraries.mjs'
import { FaultSchedule } from './fault-schedule.mjs'
import { KINDS, kindsIn, NAMES } from './kinds.mjs'
import { Monitor } from './monitor.mjs'
import { Way } from './proxy.mjs'
import { now, randomFrom } from './random.mjs'
import { Roles } from './roles.mjs'
import { startWorld } from './worlds.mjs'

const LIMITS = { leaseMs: 1_500, commandTimeoutMs: 300, outageMs: 1_500 }
const LONGEST_LEASE_MS = 3_000
/** The longest time that a process of this run may need to start, in milliseconds. */
const START_MS = 60_000

/** The state of one run. */
class Stage {
  startedAt = now()
  timeline = []
  violations = []
  faults = {}
  /** All faults, each with its start and its end. */
  spans = []
  /** The number of faults that are active. */
  running = 0
  clients = []
  generation = 0
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
    this.running += 1
    const begin = now()
    this.say(`${what}, ${where}, ${ms.toFixed(0)} ms`)
    await done
    this.spans.push({ what, where, from: begin, to: now() })
    this.running -= 1
  }

  /**
   * Reports a time during which a lock may be granted although another holder has it.
   *
   * @param endsMs for how long after `to` a hold may still end, in milliseconds; above 0 only if a clock was set
   */
  lost({ lock, from, to, endsMs = 0 }) {
    this.#windows += 1
    const id = this.#windows
    const { tokensTellTime } = this.world
    const isClock = endsMs > 0
    this.witness.send({ kind: 'forgets', id, lock, from, tokensTellTime, endsMs, isClock })
    this.witness.send({ kind: 'forgot', id, to })
    if (lock === undefined && !isClock) this.nextGeneration()
  }

  /** After a kill or a loss, permits without leases are missing. So the clients use other semaphores from now on. */
  nextGeneration() {
    this.generation += 1
    for (const client of this.clients) client.use(this.generation)
  }

  /** Starts the witness. If the witness ends too early, all requests to it reject. */
  async openWitness() {
    this.witness = forkGuarded(new URL('witness.mjs', import.meta.url))
    this.witness.setMaxListeners(50)
    const late = pause(START_MS, undefined, { ref: false }).then(() => {
      throw new Error(`The witness says nothing within ${START_MS} ms`)
    })
    return Promise.race([this.#hear('port'), late])
  }

  ask(message, key) {
    const answer = this.#hear(key)
    // If the witness has ended, `answer` rejects.
    this.witness.send(message, () => {})
    return answer
  }

  #hear(key) {
    const { witness } = this
    return new Promise((resolve, reject) => {
      const heard = (answer) => {
        if (!(key in answer)) return
        over()
        resolve(answer[key])
      }
      const ended = (code, signal) => {
        over()
        reject(
          new Error(`The witness ended before its time (${signal ?? `with ${code}`}): see above`),
        )
      }
      const over = () => witness.off('message', heard).off('exit', ended)
      witness.on('message', heard).on('exit', ended)
      if (witness.exitCode !== null || witness.signalCode !== null) {
        ended(witness.exitCode, witness.signalCode)
      }
    })
  }
}

/**
 * @param options `seconds`: the shortest time with faults; `mostSeconds`: the longest time if `isEnough(stage)` is
 * false until then
 * @returns the result: numbers, violations, and the histories of the violations
 */
export async function runStage(options) {
  if (options.control) prepareControl(options.control)
  const stage = new Stage(options)
  stage.world = await startWorld(options.world, options)
  const port = await stage.openWitness()
  if (stage.world.isQuorum) await foundQuorum(stage.world)
  const clients = await openClients(stage, port)
  stage.clients = clients
  const roles = watchRoles(stage)
  const monitor = options.monitor ? new Monitor(stage.world.servers) : undefined
  stage.startedAt = now()
  for (const client of clients) client.start()
  await areAtWork(stage)
  const schedule = new FaultSchedule(stage, { clients, roles, longestLeaseMs: LONGEST_LEASE_MS })
  await schedule.over()
  stage.say('all faults are over')
  if (!options.control && !options.broken) await schedule.calm()
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
    /** The time with faults, in seconds. */
    stormSeconds: options.seconds,
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

/** Waits until all clients work. Before that, no fault can cause a violation. */
async function areAtWork(stage) {
  const wanted = 5 * stage.options.clients
  for (const end = now() + START_MS; now() < end; await pause(100)) {
    if ((await stage.ask({ kind: 'total' }, 'total')) >= wanted) break
  }
}

async function foundQuorum({ placeBy, servers }) {
  // A busy machine may need more time here. No judge counts this time.
  const longLimits = { ...LIMITS, commandTimeoutMs: 5_000, outageMs: 30_000 }
  const settings = { newDeployment: true, longestLeaseMs: LONGEST_LEASE_MS, ...longLimits }
  const first = new Holdfast({ ...placeBy(servers), ...settings })
  await first.getLock('first').using(() => {})
  await first.close()
}

/** The kinds of the run. A control ignores these kinds, because its library decides the kind. */
const kindsOf = ({ options: { kinds = KINDS }, world }) => kindsIn(kinds, world)

function openClients(stage, witnessPort) {
  const { options, world, random } = stage
  return Promise.all(
    Array.from({ length: options.clients }, async (_, i) => {
      const ways = await Promise.all(world.targets.map((one) => new Way(one.port).open()))
      for (const [j, { ways: all }] of world.targets.entries()) all.push(ways[j])
      const { isQuorum, names } = world
      // If a server forgets a kept lock, or if its clock is set, the lease ends early. Another client may then acquire
      // the lock. After that, the client that kept the lock may use it once more, with a lower token.
      const keeps = !isQuorum && !world.isReplicated && !world.areClocksSet && !options.forget
      // Each client always claims that the deployment is new. The claim is wrong after the first start, so no master
      // may vote because of it.
      const ofQuorum = isQuorum ? { longestLeaseMs: LONGEST_LEASE_MS, newDeployment: true } : {}
      const place = { ...world.clientsBy(ways), ...ofQuorum, ...LIMITS }
      const { callers, fast, force, broken, control } = options
      const kinds = kindsOf(stage)
      const settings = () => ({
        seed: Math.floor(random() * 2 ** 31),
        options: place,
        generation: stage.generation,
        ...{ names, kinds, callers, fast, witnessPort, isQuorum, keeps, force, broken, control },
      })
      const file = control ? 'controls/client.mjs' : 'client.mjs'
      const tell = (what) => stage.violated(what)
      const killed = () => stage.nextGeneration()
      return new ClientProcess(`client ${i + 1}`, ways, { file, settings, tell, killed })
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

/** After the last fault: waits until all names are used again, ends the clients, and asks the witness to judge. */
async function conclude(stage, clients, roles) {
  const calmAt = now()
  const before = await stage.ask({ kind: 'count' }, 'entered')
  let stuck = stage.options.control ? [] : namesOf(stage)
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
  // A busy machine may cause a change of masters.
  await roles?.stop()
  const verdict = await stage.ask({ kind: 'judge' }, 'verdict')
  if (stage.options.control) return { verdict, left: [] }
  const families = ['permits', 'semaphore', 'latch']
  const numbered = await stage.ask({ kind: 'names', families }, 'names')
  const numbers = await readNumbers(stage.world, numbered)
  const report = await check(stage, calmAt, numbers)
  return { verdict, report, left: await findLeft(stage.world, numbered) }
}

/** The names that callers must use again after the last fault. */
function namesOf(stage) {
  const kinds = kindsOf(stage)
  const locks = kinds.includes('lock') ? stage.world.names : []
  const others = kinds.flatMap((kind) => NAMES[kind])
  return [...locks, ...others.map((name) => nameNow(stage, name))]
}

/** The present name: the name of a semaphore without leases ends with the generation. */
const nameNow = ({ generation }, name) =>
  NAMES.semaphore.includes(name) ? `${name}.${generation}` : name

function check(stage, calmAt, numbers) {
  const { options, startedAt, spans } = stage
  const { seed, history, plot } = options
  const about = { world: options.world, seed, startedAt, calmAt }
  const files = { history, plot }
  const message = { kind: 'check', about, faults: spans, files, numbers: [...numbers] }
  return stage.ask(message, 'report')
}

/** The state of a lock on each master. */
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
