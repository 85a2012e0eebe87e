// The client processes: their reports to the stage, and the faults that the stage causes in them.
import { fork } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { guard } from '../../scripts/lib/native-server.mjs'

/** Warnings that this run causes on purpose, because servers forget, and because some permits are counted twice. */
const WARNINGS = ['HOLDFAST_NO_PERMITS', 'HOLDFAST_PERMITS_DIFFER']

/** As `fork`, but the child process ends with this process, even while the child is stopped. */
export function forkGuarded(url, ...args) {
  const silent = WARNINGS.map((code) => `--disable-warning=${code}`)
  const [execPath, ...words] = [...guard(), process.execPath, ...silent]
  return fork(url, args, { execPath, execArgv: words })
}

export class ClientProcess {
  /** The tallies of all processes that this client has had. */
  tallies = []
  #isDead = false
  /** Processes that the client process has started. They get the same signals as the client process. */
  #alsoPids = []
  #file
  #settings
  #tell
  #killed

  /**
   * @param settings of one process; each process gets its own seed
   * @param tell is called with each violation that the process finds
   * @param killed is called immediately before the process is killed
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

  /** Closes the client under load, and opens another client. */
  async reopened() {
    this.#send({ kind: 'reopen' })
  }

  /** From now on, the callers use semaphores without leases whose names end with this generation. */
  use(generation) {
    this.#send({ kind: 'generation', generation })
  }

  /** @returns the problem; undefined if there is none */
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
      } catch {} // The process has already ended.
    }
  }

  #send(message) {
    if (!this.#isDead) this.process.send(message, () => {})
  }
}
