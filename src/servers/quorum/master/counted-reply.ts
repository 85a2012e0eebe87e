import { CallFailure } from '../../call-failure.ts'
import type { Reply } from '../../reply.ts'

interface CountedMaster {
  /** The name of the master in errors. */
  readonly label: string
  readonly server: { readonly runner: { readonly runId: string } }
}

/**
 * Passes on the answer of a master. Fails if another master is the same server, because a server
 * has one vote.
 */
export class CountedReply<A> implements Reply<A> {
  readonly #master: CountedMaster
  readonly #all: () => readonly CountedMaster[]
  readonly #reply: Reply<A>

  constructor(master: CountedMaster, all: () => readonly CountedMaster[], reply: Reply<A>) {
    this.#master = master
    this.#all = all
    this.#reply = reply
  }

  answered(answer: A): void {
    const { runId } = this.#master.server.runner
    for (const other of this.#all()) {
      if (other === this.#master || runId === '' || other.server.runner.runId !== runId) continue
      const reason = `it is the same server as ${other.label}, and a server has one vote`
      this.#reply.failed(new CallFailure('misused', reason))
      return
    }
    this.#reply.answered(answer)
  }

  failed(failure: CallFailure): void {
    this.#reply.failed(failure)
  }
}
