// The reports of a client process to the witness: each attempt, each hold and each release, with its time.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

/** Reports that the witness does not answer, because no code waits for the answer. */
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
  /** All reports of one turn of the event loop are sent together. */
  #lines = []
  #process
  #ids = 0

  /** @param label the name of the client; the name and the process id together are unique */
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

  /** Returns an id that begins with the process. */
  newId() {
    this.#ids += 1
    return `${this.#process}.${this.#ids}`
  }

  /**
   * Reports an attempt before it asks for the lock.
   *
   * @param said `lockKind`: plain, fair or multi; `waits`: true if the attempt waits; `caller`; `era`: the number of
   * the client in this process; `within`: the attempt whose hold this attempt re-enters
   * @returns an id for later reports, when the witness has recorded this report
   */
  async ask(lock, said) {
    const id = this.newId()
    await this.tell('ask', id, { lock, ...said })
    return id
  }

  /**
   * Reports that the client of this era begins to close. From then on, its holds may end. Resolves when the witness
   * has recorded this report.
   */
  closes(era) {
    return this.tell('closes', this.newId(), { era })
  }

  /** Reports a delay of the event loop, in milliseconds. */
  late(ms) {
    void this.tell('late', this.newId(), { ms })
  }

  /** @returns the answer of the witness; resolves immediately if the witness gives no answer */
  tell(kind, id, said = {}) {
    if (this.#lines.push(JSON.stringify({ kind, id, ...said })) === 1) {
      setImmediate(() => this.#socket.write(`${this.#lines.splice(0).join('\n')}\n`))
    }
    if (UNANSWERED.has(kind)) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }
}
