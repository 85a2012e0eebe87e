// One of the parties of a cyclic barrier: it awaits the others, round after round, and reports how each call ended.
import { NAMES, PARTIES } from '../kinds.mjs'
import { BaseCaller } from './base.mjs'

const WAIT_MS = 2_000

export class BarrierCaller extends BaseCaller {
  #name
  #barrier

  /** @param names only the first name is used */
  async once([name]) {
    const { client, random, broken } = this.process
    this.#name = name
    this.#barrier = client.getCyclicBarrier(this.work.keyOf(name))
    // On a name with few callers, no party waits for others.
    const parties = NAMES.barrier.includes(name) ? PARTIES : 1
    if (random() < 0.05) await this.#do('inspect', {}, () => this.#barrier.inspect())
    const meant = { parties, waitMs: 1 + Math.floor(random() * WAIT_MS) }
    if (random() < 0.05) meant.signal = AbortSignal.timeout(1 + Math.floor(random() * 50))
    const { signal: _, ...told } = meant
    // With `--break barrier`, a party counts twice, and the judge must find this.
    const twice = broken === 'barrier' ? this.#barrier.await(meant).catch(() => {}) : undefined
    await this.#do('await', told, () => this.#barrier.await(meant), meant)
    await twice
  }

  /**
   * Does one act and reports it. If the lease of a party was lost, the party was not counted. This result is an
   * answer too.
   */
  async #do(act, said, job, meant = {}) {
    const { witness, era, tally } = this.process
    const told = { family: 'barrier', act, ...said, caller: this.number, era }
    const id = await witness.ask(this.#name, told)
    const { name } = this.#barrier
    const attempt = { name, meant, ids: [id], entries: [], result: 'rejected', isSettled: false }
    await this.settled(attempt, async () => {
      const answer = await job().catch((error) => {
        if (error?.code !== 'HOLDFAST_LEASE_LOST') throw error
        tally.lost += 1
        return 'lost'
      })
      attempt.entries.push({ id })
      void witness.tell('settle', id, { result: 'done', answer })
    })
  }
}
