// What a client process tells the witness: each attempt, each hold, each release, and when.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

/** What the witness does not answer, for nobody waits until it is written down. */
export const UNANSWERED = new Set([
  'valid',
  'lost',
  'queued',
  'settle',
  'write',
  'released',
  'late',
  'changed',
])

export class Record {
  #socket
  #waiting = new Map()
  /** What is told in one turn of the event loop goes together. */
  #lines = []
  #process
  #ids = 0

  /** @param label the client's name; its process id makes it one of a kind */
  constructor(port, label) {
    this.#process = `${label}.${process.pid}`
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.setNoDelay(true)
    createInterface({ input: this.#socket }).on('line', (line) => {
      const [id, value] = line.split('\t')
      const answered = this.#waiting.get(id)
      this.#waiting.delete(id)
      answered?.(value === undefined ? undefined : Number(value))
    })
  }

  /** It tells which process it is of. */
  newId() {
    this.#ids += 1
    return `${this.#process}.${this.#ids}`
  }

  /**
   * Before a lock is asked for.
   *
   * @param said `lockKind`: plain, fair or multi; `waits`: whether it waits at all; `caller`; `era`: which
   * client of this process; `within`: the attempt whose hold it re-enters
   * @returns an id for what follows, once the witness has written it down
   */
  async ask(lock, said) {
    const id = this.newId()
    await this.tell('ask', id, { lock, ...said })
    return id
  }

  /** Resolves when it is written down that the client of this era begins to close: its holds may end. */
  closes(era) {
    return this.tell('closes', this.newId(), { era })
  }

  /** The event loop was late by so much. */
  late(ms) {
    void this.tell('late', this.newId(), { ms })
  }

  /** @returns what the witness answers, or at once where it answers nothing */
  tell(kind, id, said = {}) {
    if (this.#lines.push(JSON.stringify({ kind, id, ...said })) === 1) {
      setImmediate(() => this.#socket.write(`${this.#lines.splice(0).join('\n')}\n`))
    }
    if (UNANSWERED.has(kind)) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }
}
