import type { Grant } from './answers.ts'
import type { LockKeys } from './keys.ts'
import type { Master } from './master.ts'
import { type Decided, poll, type Vote } from './poll.ts'
import { answersOf, type Granted, isGranted, type Votes } from './votes.ts'

/** The votes of one attempt at a lock. */
interface Attempt {
  readonly votes: Votes<Grant>
  /** It came to nothing: what was granted is freed, also where the answer is yet to come. */
  giveBack(): void
}

/** How one owner's name is put to the masters, and what becomes of the votes that come late. */
export class Election {
  readonly #masters: readonly Master[]
  readonly #majority: number
  /** The names that masters are still to answer for. */
  readonly #awaited = new Map<string, { over: boolean }>()

  constructor(masters: readonly Master[], majority: number) {
    this.#masters = masters
    this.#majority = majority
  }

  /** Asks for the lock in that name. */
  async hold(
    keys: LockKeys,
    owner: string,
    callMs: number,
    ask: (master: Master) => Promise<Grant>,
    isDecided: (votes: Votes<Grant>) => Decided,
  ): Promise<Attempt> {
    const attempt = { over: false }
    const free = ({ member }: { member: Master }) => {
      member.release(keys, owner, 0, callMs).catch(() => {})
    }
    let due = this.#masters.length
    const counted = (master: Master) =>
      master.seenTo(ask(master)).finally(() => {
        due -= 1
        if (due === 0 && this.#awaited.get(owner) === attempt) this.#awaited.delete(owner)
      })
    this.#awaited.set(owner, attempt)
    const votes = await poll(this.#masters, counted, isDecided, (vote) => {
      if (attempt.over && isGranted(vote)) free(vote)
    })
    const giveBack = () => {
      attempt.over = true
      votes.filter(isGranted).forEach(free)
    }
    return { votes, giveBack }
  }

  /** Nothing more is wanted in that name: votes that are still to come are given back. */
  over(owner: string): void {
    const attempt = this.#awaited.get(owner)
    if (attempt !== undefined) attempt.over = true
  }

  /** The hold in that name was lost: what a minority has of it, or is yet to have, is freed. */
  abandon(keys: LockKeys, owner: string, callMs: number): { readonly kind: 'gone' } {
    this.over(owner)
    for (const master of this.#masters) master.release(keys, owner, 0, callMs).catch(() => {})
    return { kind: 'gone' }
  }

  /**
   * Makes a majority know the highest token that was issued. Where their counters were in step
   * nothing is to be sent.
   *
   * @returns the token; null when a majority could not be told
   */
  async agree(
    keys: LockKeys,
    owner: string,
    granted: readonly Vote<Master, Granted>[],
    callMs: number,
  ): Promise<number | null> {
    const token = Math.max(...granted.map(({ answer }) => answer.token))
    const behind = granted.filter(({ answer }) => answer.token < token).map(({ member }) => member)
    const known = granted.length - behind.length
    const told = poll(
      behind,
      (master) => master.agree(keys, owner, token, callMs),
      (some) => known + answersOf(some).filter(Boolean).length >= this.#majority,
    )
    if (known >= this.#majority) return token
    return known + answersOf(await told).filter(Boolean).length >= this.#majority ? token : null
  }
}
