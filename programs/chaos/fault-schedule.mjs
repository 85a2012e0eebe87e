// Decides when there are faults: storms, and after each storm a calm that is long enough for the judge of liveness.
import { setTimeout as pause } from 'node:timers/promises'
import { boundAfter } from './checkers/liveness.mjs'
import { LIBRARIES } from './controls/libraries.mjs'
import { now, randomFrom } from './random.mjs'
import { STORMS, storm } from './storm.mjs'

/** The longest time between two calms, in milliseconds. */
const STORM_MS = 35_000
/** A calm is this much longer than the bound within which a waiter must acquire the lock. */
const MARGIN_MS = 1_200
/** Only faults that ended at most this long before the last fault count for the bound. */
const FELT_MS = 5_000
const LOOK_MS = 250
/** The most times that the run waits for one calm, if late processes disturb it. */
const TRIES = 3

export class FaultSchedule {
  #stage
  #part
  #isCalm = false
  #isOver = false

  /** @param part the clients and their proxies, the watcher of the masters, and the longest lease */
  constructor(stage, part) {
    this.#stage = stage
    this.#part = part
  }

  /** Resolves when there were enough faults, and the last fault is over. */
  async over() {
    await Promise.all([this.#windows(), this.#storms()])
  }

  /**
   * Waits without faults for longer than the bound of the last faults. If a process was late meanwhile, as on a busy
   * machine, the calm is repeated, because such a delay is a fault too.
   */
  async calm() {
    const { spans: faults, startedAt } = this.#stage
    const last = Math.max(startedAt, ...faults.map(({ to }) => to))
    const boundMs = boundAfter(faults.filter(({ to }) => to > last - FELT_MS))
    for (let i = 0; i < TRIES; i++) {
      await pause(boundMs + MARGIN_MS)
      const said = { faults, about: { startedAt }, since: last - MARGIN_MS }
      if (await this.#stage.ask({ kind: 'calm', ...said }, 'isCalm')) break
    }
  }

  async #windows() {
    const { options } = this.#stage
    const { seconds, mostSeconds = seconds } = options
    const start = now()
    let calmedAt = start
    while (!this.#isOver) {
      await pause(LOOK_MS)
      const lasted = (now() - start) / 1_000
      if (lasted >= seconds) this.#isOver = lasted >= mostSeconds || (await this.#isEnough())
      else if (now() - calmedAt > STORM_MS && !options.control) {
        this.#isCalm = true
        while (this.#stage.running > 0) await pause(LOOK_MS)
        await this.calm()
        this.#isCalm = false
        calmedAt = now()
      }
    }
  }

  async #isEnough() {
    const { options } = this.#stage
    return options.isEnough === undefined || options.isEnough(this.#stage)
  }

  async #storms() {
    const { options, world, random, log, witness } = this.#stage
    const forgets = (lock, { isForgiven = false, ...more } = {}) => {
      const from = now()
      return () => {
        if (isForgiven) witness.send({ kind: 'emptied', from, to: now() })
        else this.#stage.lost({ lock, from, to: now(), ...more })
      }
    }
    const part = {
      ...{ ...this.#part, world, forgets },
      forgetful: world.isQuorum || options.forget,
    }
    const pace = (everyMs) => ({
      isOver: () => this.#isOver,
      isCalm: () => this.#isCalm,
      everyMs: everyMs * (options.gaps ?? 1),
    })
    const kinds = options.control
      ? [[LIBRARIES[options.control].faults ?? 'pauses', 500]]
      : [
          ['clients', 2_000],
          ['clients', 2_000],
          ['servers', 2_500],
          ['losses', 1_500],
        ]
    await Promise.all(
      kinds.map(([kind, everyMs]) =>
        storm(STORMS[kind](part), randomFrom(random() * 2 ** 31), pace(everyMs), log),
      ),
    )
  }
}
