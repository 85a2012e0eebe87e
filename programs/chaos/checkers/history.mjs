// The record of the witness: the attempts for each lock, on one clock, and all faults.
import { FencedCell } from './cells.mjs'

/**
 * One attempt to acquire a lock, with its result. The times are from the clock of the witness, in milliseconds. A
 * process reports a request before it sends the request, and a result after it has the result. A property is
 * undefined if the process was killed before it could report the value.
 *
 * @typedef {object} Attempt
 * @property {string} id
 * @property {string} lock
 * @property {string} process
 * @property {number} [era] the number of the client in that process
 * @property {number} [caller]
 * @property {'read-write' | 'permits' | 'semaphore' | 'election' | 'latch' | 'barrier'} [family] undefined for a lock
 * @property {'plain' | 'fair' | 'multi'} [lockKind]
 * @property {'read' | 'upgradable' | 'write'} [mode] of a read-write lock
 * @property {number} [permits] the wanted number of permits
 * @property {boolean} [outlives] true if the permits stay acquired after the end of the client
 * @property {number} [most] the number of permits of the semaphore
 * @property {boolean} [waits] false if the attempt does not wait
 * @property {string} [within] the attempt of the same owner whose hold this attempt re-enters, or beside which it
 * reads or writes
 * @property {'set' | 'inspect' | 'count-down' | 'await' | 'delete'} [act] on a latch, with its `count`, `round` and `waitMs`, or on a barrier, with its `parties` and `waitMs`
 * @property {number} [calledAt] the time of the call in its process
 * @property {any} [answer] of such an act, if `result` is 'done'
 * @property {number} askedAt
 * @property {number} [queuedAt] when the process had seen its place in the queue in Redis
 * @property {number} [settledAt]
 * @property {'granted' | 'refused' | 'aborted' | 'rejected'} [result] after 'aborted' and 'rejected', it is unknown
 * if the attempt had the lock
 * @property {number} [token]
 * @property {number} [count] the hold count after the acquisition
 * @property {number} validUntil the latest end of the lease that the holder reported; 0 at first
 * @property {number} [enteredAt]
 * @property {number} [wroteAt] the time of the write to the cells
 * @property {boolean} [accepted] true if the fenced cell accepted the write
 * @property {number} [lostAt] when the signal reported the loss of the lease to the holder
 * @property {number} [leftAt]
 * @property {number} [releasingAt]
 * @property {number} [releasedAt]
 * @property {number} [closedAt] when the client began to close, which ends its holds
 * @property {boolean | null} [released] false: the hold was already gone; null: unknown
 */

const clientOf = ({ process, era }) => `${process} ${era}`
/** The process that made the id. The id begins with the process. */
const processOf = (id) => id.slice(0, id.lastIndexOf('.'))

export class History {
  /** @type {Map<string, Attempt[]>} */
  attempts = new Map()
  /**
   * The times in which a lock could be taken from its holder: force, a flush, a failover. A time without `lock`
   * concerns all locks.
   */
  windows = []
  /** `{ what, from, to }`, with `process` if the fault concerns one process. */
  faults = []
  /**
   * `{ from, to }`: the times in which a master of a quorum forgot all keys. If a bare majority had a lock, too few
   * masters have it then, and the holder loses it. But that master does not vote. So no other client acquires the
   * lock before the holder learns of the loss, and `windows` does not have this time.
   */
  emptied = []
  /** The reports of the event `changed` of elections: `{ lock, process, era, token, owner, at }`. */
  changes = []
  /** By name, `{ available, taken }`: the permits of a semaphore after all holders had left. */
  numbers = new Map()
  /** The times at which clients closed, by process and era. */
  closes = new Map()
  /** The facts of the run, such as its world and its seed. */
  about = {}
  /** The number of acquisitions and other operations of each kind. */
  operations = {}
  #open = new Map()
  #cells = new Map()

  /**
   * @param at on the clock of the witness
   * @returns the value of the unfenced cell, if a holder enters
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
    if (attempt === undefined) return undefined // The attempt has already ended without a hold.
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
    // A round is an operation too.
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

  /** From then on, a lock may be granted although another holder has it. */
  forgets(id, lock, at) {
    this.windows.push({ id, lock, from: at, to: Infinity })
  }

  forgot(id, at) {
    this.windows.find((one) => one.id === id).to = at
  }

  get operationCount() {
    return Object.values(this.operations).reduce((sum, count) => sum + count, 0)
  }

  /** The attempts that entered, by lock. */
  holds() {
    const holds = new Map()
    for (const [lock, all] of this.attempts) {
      const entered = all.filter(({ enteredAt }) => enteredAt !== undefined)
      if (entered.length > 0) holds.set(lock, entered)
    }
    return holds
  }

  /** The history as lines of JSON. */
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

  /** Reads one line of a file. */
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
