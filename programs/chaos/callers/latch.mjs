// A party that uses a latch as a barrier, again and again. It sets the count of the latch unless another party has
// set it. Then it counts down in that round, and waits for the end of the round.
import { setTimeout as pause } from 'node:timers/promises'
import { COUNT, NAMES } from '../kinds.mjs'
import { now } from '../random.mjs'
import { BaseCaller } from './base.mjs'

const WAIT_MS = 2_000

export class LatchCaller extends BaseCaller {
  #name
  #latch

  /** @param names only the first name is used */
  async once([name]) {
    const { client, random } = this.process
    this.#name = name
    this.#latch = client.getCountDownLatch(this.work.keyOf(name))
    // On a name with few callers, no party waits for others.
    const count = NAMES.latch.includes(name) ? COUNT : 1
    await this.#do('set', { count }, () => this.#latch.trySetCount(count))
    const facts = await this.#do('inspect', {}, () => this.#latch.inspect())
    if (!facts?.count) return
    // A call with a round acts in that round. A call without a round acts in the round at the time of the call. A
    // server may have evicted the number of the round.
    const named = facts.round !== null && random() < 0.85 ? { round: facts.round } : undefined
    if (random() < 0.9) await this.#do('count-down', named, () => this.#latch.countDown(named))
    // With `--break latch`, the latch opens one count early, and the judge must find this.
    if (this.process.broken === 'latch') await this.#latch.countDown()
    if (random() < 0.01) await this.#do('delete', named, () => this.#latch.delete(named))
    const isOpen = await this.#await(named)
    // A party may have been killed before it counted down. So the other parties begin another round.
    if (isOpen === false) await this.#do('delete', named, () => this.#latch.delete(named))
    if (isOpen === undefined) await pause(random() * 20)
  }

  #await(named) {
    const { random } = this.process
    const meant = { ...named, waitMs: 1 + Math.floor(random() * WAIT_MS) }
    if (random() < 0.05) meant.signal = AbortSignal.timeout(1 + Math.floor(random() * 50))
    const { signal: _, ...told } = meant
    return this.#do('await', told, () => this.#latch.await(meant), meant)
  }

  /**
   * Does one act and reports it.
   *
   * @returns the answer; undefined if there was none
   */
  async #do(act, said, job, meant = {}) {
    const { witness, era } = this.process
    const { name } = this.#latch
    const told = { family: 'latch', act, ...said, caller: this.number, era }
    const id = await witness.ask(this.#name, told)
    const attempt = { name, meant, ids: [id], entries: [], result: 'rejected', isSettled: false }
    let answer
    // Without a round, the call belongs to the round of this moment.
    const calledAt = now()
    await this.settled(attempt, async () => {
      answer = await job()
      attempt.entries.push({ id })
      void witness.tell('settle', id, { result: 'done', answer: plain(act, answer), calledAt })
    })
    return answer
  }
}

const plain = (act, answer) =>
  act === 'inspect' ? { count: answer.count, round: answer.round } : answer
