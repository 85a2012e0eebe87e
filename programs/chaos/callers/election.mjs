// A candidate of an election. It leads for a while when its turn comes.
import { setTimeout as pause } from 'node:timers/promises'
import { pickWeighted } from '../random.mjs'
import { BaseCaller } from './base.mjs'

/** How many terms of one call of `lead` with `again` are reported. */
const TERMS = 4

export class ElectionCaller extends BaseCaller {
  /** @param names only the first name is used */
  async once([name]) {
    const { client, era, random, witness, label } = this.process
    const isOwn = name.startsWith('own-')
    const { signal } = this.acquisition(isOwn)
    const meant = signal === undefined ? { again: random() < 0.3 } : { signal }
    if (random() < 0.1) meant.maxDrainMs = 1 + Math.floor(random() * 2_000)
    const said = { family: 'election', waits: true, caller: this.number, era }
    const election = client.getLeaderElection(this.work.keyOf(name), {
      label: `${label} ${this.number}`,
    })
    // One call of `lead` requests all terms, so the caller reports all requests before this call.
    const ids = []
    for (let i = 0; i < (meant.again ? TERMS : 1); i++) {
      ids.push(await witness.ask(name, { ...said, waits: i === 0 }))
    }
    const attempt = {
      ...{ name: election.name, election, meant, ids },
      ...{ entries: [], result: 'rejected', isSettled: false },
    }
    attempt.ms = pickWeighted(random, [
      [60, 0],
      [30, random() * 10],
      [1, random() * 600],
    ])
    await this.settled(attempt, () => this.#lead(attempt))
  }

  async #lead(attempt) {
    const { election, meant } = attempt
    let resigned
    try {
      await election.lead((term) => {
        const { length } = attempt.entries
        if (length === attempt.ids.length) return undefined
        this.granted(attempt, [{ lease: term, id: attempt.ids[length] }])
        resigned = undefined
        return this.#term(attempt, attempt.entries.at(-1), (how) => {
          resigned = how
        })
      }, meant)
    } finally {
      const { witness } = this.process
      const last = attempt.entries.at(-1)
      // `lead` does not report whether the server has confirmed the end of a term: only `resign` does.
      const released = await resigned?.catch(() => null)
      if (last !== undefined) void witness.tell('released', last.id, { released: released || null })
    }
    attempt.result = 'refused'
  }

  async #term({ election, ms }, entry, resigns) {
    const { random } = this.process
    const isResigning = random() < 0.3
    if (isResigning) {
      // The candidate requests the end of its own term during the work.
      void pause(ms / 2).then(() => resigns(election.resign()))
    }
    await this.work.under([entry], ms, true)
    if (isResigning && random() < 0.5) await pause(random() * 3)
  }
}
