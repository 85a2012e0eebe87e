// When there are faults, and when there are none: storms, and after each a calm that is long enough to
// judge who gets in.
import { setTimeout as pause } from 'node:timers/promises'
import { boundAfter } from './checkers/liveness.mjs'
import { LIBRARIES } from './controls/libraries.mjs'
import { now, randomFrom } from './random.mjs'
import { STORMS, storm } from './storm.mjs'

/** So long at most from calm to calm. */
const STORM_MS = 35_000
/** Beyond the bound within which somebody must be let in. */
const MARGIN_MS = 1_200
/** What was over so long before the last fault may have the longest bound. */
const FELT_MS = 5_000
const LOOK_MS = 250
/** How often a calm is tried. */
const TRIES = 3

export class Weather {
  #stage
  #part
  #isCalm = false
  #isOver = false

  /** @param part the clients with their ways, who watches the masters, and the longest lease */
  constructor(stage, part) {
    this.#stage = stage
    this.#part = part
  }

  /** Done when there has been enough, and the last fault is over. */
  async over() {
    await Promise.all([this.#seasons(), this.#storms()])
  }

  /**
   * Lets all be well for longer than the bound after the last faults; once more where a process was late
   * meanwhile, as on a busy machine, for that is a fault as well.
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

  async #seasons() {
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
