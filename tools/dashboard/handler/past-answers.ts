import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Past, PastQuestion } from './past.ts'

/**
 * The question of a viewer about the last `minutes`: about one lock, or about all locks whose names
 * contain `filter`.
 */
export interface PastView extends Pick<PastQuestion, 'key' | 'filter'> {
  readonly minutes: number
}

interface CachedAnswer {
  readonly text: Promise<string>
  /**
   * After this moment of the monotonic clock, in milliseconds, the answer is computed again.
   * Infinity until the answer exists.
   */
  freshUntil: number
}

/** For how long an answer is reused, in milliseconds. */
const FRESH_MS = 1_000
const MOST_ANSWERS = 100

/**
 * Answers about the past, as JSON. Viewers with the same question share one answer. Each answer is
 * computed in its own turn of the event loop, so that the process can renew leases in between.
 */
export class PastAnswers {
  readonly #source: () => Promise<(question: PastQuestion) => Past>
  readonly #answers = new Map<string, CachedAnswer>()
  #last: Promise<unknown> = Promise.resolve()

  /** @param source loads the data, and returns the function that computes an answer */
  constructor(source: () => Promise<(question: PastQuestion) => Past>) {
    this.#source = source
  }

  of(view: PastView): Promise<string> {
    const id = JSON.stringify([view.minutes, view.key, view.filter])
    const known = this.#answers.get(id)
    if (known !== undefined && performance.now() < known.freshUntil) return known.text
    this.#dropOld()
    const answer: CachedAnswer = { text: this.#make(view), freshUntil: Number.POSITIVE_INFINITY }
    this.#answers.set(id, answer)
    const made = () => {
      answer.freshUntil = performance.now() + FRESH_MS
    }
    answer.text.then(made, made)
    return answer.text
  }

  async #make({ minutes, key, filter }: PastView): Promise<string> {
    const answer = await this.#source()
    const text = this.#last.then(async () => {
      await nextTurn()
      const now = Date.now()
      return JSON.stringify(answer({ now, from: now - minutes * 60_000, key, filter }))
    })
    this.#last = text.catch(() => undefined)
    return text
  }

  #dropOld(): void {
    const now = performance.now()
    for (const [id, { freshUntil }] of this.#answers) {
      if (freshUntil < now || this.#answers.size >= MOST_ANSWERS) this.#answers.delete(id)
    }
  }
}
