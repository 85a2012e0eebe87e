// What the witness writes down: attempts by lock, on one clock, and what was wrong meanwhile.
import { FencedCell } from './cells.mjs'

/**
 * One attempt to acquire a lock, and what became of it. Times are the witness's own, in milliseconds: what
 * is asked for is written down before it is done, what came of it afterwards. What a process did not live
 * to tell is undefined.
 *
 * @typedef {object} Attempt
 * @property {string} id
 * @property {string} lock
 * @property {string} process
 * @property {number} [era] which client of that process
 * @property {number} [caller]
 * @property {'read-write' | 'permits' | 'semaphore' | 'election' | 'latch' | 'barrier'} [family] left out, it is a lock
 * @property {'plain' | 'fair' | 'multi'} [lockKind]
 * @property {'read' | 'upgradable' | 'write'} [mode] of a read-write lock
 * @property {number} [permits] how many are wanted
 * @property {boolean} [outlives] whether what it has does not end with its client
 * @property {number} [most] how many permits the semaphore has
 * @property {boolean} [waits] false where it was tried once
 * @property {string} [within] the attempt of the same owner whose hold it was to re-enter, or beside which it was to read or write
 * @property {'set' | 'inspect' | 'count-down' | 'await' | 'delete'} [act] on a latch, with its `count`, `round` and `waitMs`, or on a barrier, with its `parties` and `waitMs`
 * @property {number} [calledAt] when its process called it
 * @property {any} [answer] of such an act, where `result` is 'done'
 * @property {number} askedAt
 * @property {number} [queuedAt] when its process had seen its place in the queue in Redis
 * @property {number} [settledAt]
 * @property {'granted' | 'refused' | 'aborted' | 'rejected'} [result] whether it had the lock after 'aborted' and
 * 'rejected' is unknown
 * @property {number} [token]
 * @property {number} [count] the hold count that it came to
 * @property {number} validUntil the latest that its holder ever said, 0 at first
 * @property {number} [enteredAt]
 * @property {number} [wroteAt] when it wrote to the cells
 * @property {boolean} [accepted] whether the fenced cell took it
 * @property {number} [lostAt] when its holder was told, by the signal, that the lease is lost
 * @property {number} [leftAt]
 * @property {number} [releasingAt]
 * @property {number} [releasedAt]
 * @property {number} [closedAt] when its client began to close, which ends what it holds
 * @property {boolean | null} [released] false: it was gone already; null: unknown
 */

const clientOf = ({ process, era }) => `${process} ${era}`
/** An id begins with the process that made it. */
const processOf = (id) => id.slice(0, id.lastIndexOf('.'))

export class History {
  /** @type {Map<string, Attempt[]>} */
  attempts = new Map()
  /** When a lock (where none is named: any) could be taken from its holder: force, a flush, a failover. */
  windows = []
  /** `{ what, from, to }`; `process` where it concerns one only */
  faults = []
  /**
   * `{ from, to }`: when a master of a quorum forgot all. Where a bare majority had a lock it is too few
   * then, and the hold is found gone. But that master does not vote, so nobody else gets in before the
   * holder was told: it is no window.
   */
  emptied = []
  /** What `changed` told of elections: `{ lock, process, era, token, owner, at }`. */
  changes = []
  /** By name, `{ available, taken }`: the permits of a semaphore when everybody had left. */
  numbers = new Map()
  /** When clients closed, by process and era. */
  closes = new Map()
  /** Of the run: world, seed and so on. */
  about = {}
  /** How many acquisitions, and other operations, of each kind. */
  operations = {}
  #open = new Map()
  #cells = new Map()

  /**
   * @param at on the witness's clock
   * @returns the value of the unfenced cell, for one who enters
   */
  hear({ kind, id, ...said }, at) {
    if (kind === 'ask') {
      const attempt = { id, process: processOf(id), ...said, askedAt: at, validUntil: 0 }
      if (!attempt.outlives) attempt.closedAt = this.closes.get(clientOf(attempt))
      this.#open.set(id, attempt)
      const all = this.attempts.get(attempt.lock)
      if (all === undefined) this.attempts.set(attempt.lock, [attempt])
      else all.push(attempt)
    } else if (kind === 'forces') this.forgets(id, said.lock, at)
    else if (kind === 'forced') this.forgot(id, at)
    else if (kind === 'closes') this.#closed(clientOf({ process: processOf(id), ...said }), at)
    else if (kind === 'changed') this.changes.push({ process: processOf(id), ...said, at })
    else if (kind === 'late') {
      const process = processOf(id)
      const what = `${process} is late`
      this.faults.push({ what, process, from: at - said.ms, to: at, measured: true })
    } else return this.#hearOf(this.#open.get(id), kind, said, at)
  }

  #hearOf(attempt, kind, { validUntil = 0, ...said }, at) {
    if (attempt === undefined) return undefined // It came to nothing already.
    attempt.validUntil = Math.max(attempt.validUntil, validUntil)
    if (kind === 'settle' || kind === 'enter' || kind === 'drop') {
      Object.assign(attempt, said, { settledAt: attempt.settledAt ?? at })
      if (attempt.result !== 'granted') this.#open.delete(attempt.id)
      this.#countsDown(attempt)
    }
    if (kind === 'enter') {
      this.#counts(attempt)
      attempt.result = 'granted'
      attempt.enteredAt = at
      return this.#cellsOf(attempt.lock).counter
    }
    if (kind === 'queued') attempt.queuedAt = at
    if (kind === 'write') {
      const cells = this.#cellsOf(attempt.lock)
      attempt.wroteAt = at
      cells.counter = said.counter
      attempt.accepted = cells.fenced.write(attempt.token)
    }
    if (kind === 'lost') attempt.lostAt = said.lostAt
    if (kind === 'leave') attempt.leftAt = at
    if (said.releasing || kind === 'releasing') attempt.releasingAt = at
    if (kind === 'released') {
      Object.assign(attempt, said, { releasedAt: at })
      this.#open.delete(attempt.id)
    }
  }

  #closed(client, at) {
    this.closes.set(client, at)
    for (const one of this.#open.values()) {
      if (clientOf(one) === client && !one.outlives) one.closedAt = at
    }
  }

  #counts({ family = 'lock' }) {
    this.operations[family] = (this.operations[family] ?? 0) + 1
  }

  #countsDown(attempt) {
    const { family, act, answer } = attempt
    if (family === 'barrier' && act === 'await' && answer === true) this.#counts(attempt)
    if (act !== 'count-down' || typeof answer !== 'number') return
    this.#counts(attempt)
    // A round is an operation of its own.
    if (answer === 0) this.#counts(attempt)
  }

  #cellsOf(lock) {
    let cells = this.#cells.get(lock)
    if (cells === undefined) {
      cells = { counter: 0, fenced: new FencedCell() }
      this.#cells.set(lock, cells)
    }
    return cells
  }

  /** From then on a lock may be given away although somebody has it. */
  forgets(id, lock, at) {
    this.windows.push({ id, lock, from: at, to: Infinity })
  }

  forgot(id, at) {
    this.windows.find((one) => one.id === id).to = at
  }

  get operationCount() {
    return Object.values(this.operations).reduce((sum, count) => sum + count, 0)
  }

  /** By lock, those who entered. */
  holds() {
    const holds = new Map()
    for (const [lock, all] of this.attempts) {
      const entered = all.filter(({ enteredAt }) => enteredAt !== undefined)
      if (entered.length > 0) holds.set(lock, entered)
    }
    return holds
  }

  /** As lines of JSON. */
  *lines() {
    yield JSON.stringify({ is: 'run', ...this.about })
    for (const one of this.windows) yield JSON.stringify({ is: 'window', ...one })
    for (const one of this.emptied) yield JSON.stringify({ is: 'emptied', ...one })
    for (const one of this.faults) yield JSON.stringify({ is: 'fault', ...one })
    for (const one of this.changes) yield JSON.stringify({ is: 'change', ...one })
    for (const [lock, one] of this.numbers) yield JSON.stringify({ is: 'number', lock, ...one })
    for (const [client, at] of this.closes) yield JSON.stringify({ is: 'close', client, at })
    for (const all of this.attempts.values()) {
      for (const one of all) yield JSON.stringify({ is: 'attempt', ...one })
    }
  }

  /** One of the lines of a file. */
  read(line) {
    const { is, ...said } = JSON.parse(line)
    if (is === 'run') this.about = said
    if (is === 'window') this.windows.push({ ...said, to: said.to ?? Infinity })
    if (is === 'emptied') this.emptied.push(said)
    if (is === 'fault') this.faults.push(said)
    if (is === 'change') this.changes.push(said)
    if (is === 'number') this.numbers.set(said.lock, said)
    if (is === 'close') this.closes.set(said.client, said.at)
    if (is !== 'attempt') return
    const all = this.attempts.get(said.lock) ?? []
    this.attempts.set(said.lock, all)
    all.push(said)
    if (said.enteredAt !== undefined) this.#counts(said)
    this.#countsDown(said)
  }
}
