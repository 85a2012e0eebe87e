// The client processes as the stage sees them: what they tell, and what can befall them.
import { fork } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { guard } from '../../scripts/lib/native-server.mjs'

/** Warnings that servers which forget, and permits that are counted twice on purpose, cause again and again. */
const WARNINGS = ['HOLDFAST_NO_PERMITS', 'HOLDFAST_PERMITS_DIFFER']

/** As `fork`, but it ends with this process, even while it is stopped. */
export function forkGuarded(url, ...args) {
  const silent = WARNINGS.map((code) => `--disable-warning=${code}`)
  const [execPath, ...words] = [...guard(), process.execPath, ...silent]
  return fork(url, args, { execPath, execArgv: words })
}

export class ClientProcess {
  /** What each of its lives has told at its end. */
  tallies = []
  #isDead = false
  /** Of processes that it has started, and that are to suffer the same. */
  #alsoPids = []
  #file
  #settings
  #tell
  #killed

  /**
   * @param settings of one life; each has a seed of its own
   * @param tell called with each violation that it finds
   * @param killed called when it is about to be killed
   */
  constructor(label, ways, { file, settings, tell, killed }) {
    this.#killed = killed
    this.label = label
    this.ways = ways
    this.#file = file
    this.#settings = settings
    this.#tell = tell
  }

  start() {
    this.#isDead = false
    const settings = { label: this.label, ...this.#settings() }
    const child = forkGuarded(new URL(this.#file, import.meta.url), JSON.stringify(settings))
    this.process = child
    this.#alsoPids = []
    child.on('message', ({ violation, tally, failures, alsoPid }) => {
      if (alsoPid !== undefined) this.#alsoPids.push(alsoPid)
      if (violation !== undefined) this.#tell(violation)
      if (tally !== undefined) this.tallies.push({ tally, failures })
    })
  }

  async killed(ms) {
    if (this.#isDead) return
    this.#isDead = true
    this.#killed()
    this.#signal('SIGKILL')
    await pause(ms)
    this.start()
  }

  async paused(ms) {
    this.#signal('SIGSTOP')
    await pause(ms)
    this.#signal('SIGCONT')
  }

  async stalled(ms) {
    this.#send({ kind: 'stall', ms })
    await pause(ms)
  }

  /** Its client is closed under load, and another one opened. */
  async reopened() {
    this.#send({ kind: 'reopen' })
  }

  /** From now on semaphores without leases are others. */
  use(generation) {
    this.#send({ kind: 'generation', generation })
  }

  /** @returns what is wrong, or undefined */
  async stop() {
    const done = new Promise((resolve) => {
      this.process.on('message', ({ tally }) => tally && resolve('done'))
    })
    this.#send({ kind: 'stop' })
    const how = await Promise.race([done, pause(60_000, 'hangs', { ref: false })])
    this.#signal('SIGKILL')
    return how === 'hangs' ? `${this.label} does not end` : undefined
  }

  #signal(name) {
    this.process.kill(name)
    for (const pid of this.#alsoPids) {
      try {
        process.kill(pid, name)
      } catch {} // It has ended by itself.
    }
  }

  #send(message) {
    if (!this.#isDead) this.process.send(message, () => {})
  }
}
