import type { Grant, LockFacts, Released, Seat } from './answers.ts'
import { Contention } from './contention.ts'
import { Election } from './election.ts'
import { CallFailure } from './failure.ts'
import { type LockKeys, lockKeys } from './keys.ts'
import type { Master } from './master.ts'
import { poll } from './poll.ts'
import { renewOnMost } from './renewals.ts'
import type { Servers } from './servers.ts'
import { Splits } from './splits.ts'
import { answersOf, count, failuresOf, isGranted, mostOften, Size, type Votes } from './votes.ts'
import type { Listening } from './wake-ups.ts'

/**
 * Independent masters as one: what a majority of them answers is what is so. The algorithm is that
 * of the Redlock page; tokens are agreed on by the majority that grants, and a master that may have
 * forgotten does not vote. Every attempt has a name of its own, so that what is told late to one
 * master cannot touch what was got since.
 *
 * @see https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
 */
export class Quorum implements Servers {
  readonly namesOnce = true
  readonly countsListeners = true
  readonly #masters: readonly Master[]
  readonly #size: Size
  readonly #election: Election
  readonly #callMs: number
  readonly #splits: Splits
  readonly #contention: Contention
  #closed = false

  /** @param callMs how long one master may take, in milliseconds */
  constructor(masters: readonly Master[], callMs: number) {
    this.#masters = masters
    this.#size = new Size(masters.length)
    this.#splits = new Splits(this.#size)
    this.#election = new Election(masters, this.#size.majority)
    this.#contention = new Contention(masters, this.#size)
    this.#callMs = callMs
  }

  async acquire(
    keys: LockKeys,
    owner: string,
    leaseMs: number,
    holds: number,
    timeoutMs: number,
    reserve = 0,
  ): Promise<Grant> {
    const { majority, spare } = this.#size
    const callMs = Math.min(timeoutMs, this.#callMs)
    const ask = (master: Master) => master.acquire(keys, owner, leaseMs, holds, callMs, reserve)
    const first = holds === 1 ? await this.#contention.askFirst(keys, ask) : undefined
    if (first?.held !== undefined) {
      this.#splits.over(keys)
      return first.held
    }
    const votes = await poll(
      this.#masters,
      (master) => (master === first?.master ? first.vote : ask(master)),
      (some) => {
        const granted = count(some, 'granted')
        return granted >= majority || (some.length - granted > spare && 'nearly')
      },
    )
    if (votes.some(({ answer }) => answer instanceof CallFailure && answer.kind === 'misused')) {
      if (holds === 1) this.#election.abandon(keys, owner, callMs)
      throw this.#failure(votes, false)
    }
    const granted = votes.filter(isGranted)
    if (granted.length >= majority) {
      if (holds > 1) return { kind: 'granted', token: Number.NaN }
      const agreed = await this.#election.agree(keys, owner, granted, callMs)
      if (agreed !== null) {
        this.#splits.over(keys)
        this.#contention.won(keys)
        return agreed
      }
    }
    if (holds > 1 && count(votes, 'gone') > spare) {
      return this.#election.abandon(keys, owner, callMs)
    }
    const failed = failuresOf(votes).length
    if (holds > 1 || (failed > spare && !this.#size.refuse(votes))) {
      throw this.#failure(votes, granted.length > 0 || votes.length < this.#masters.length)
    }
    this.#election.giveBack(keys, owner, votes, callMs)
    if (failed > spare) throw this.#failure(votes, false)
    return this.#splits.held(keys, votes)
  }

  async handOver(
    keys: LockKeys,
    from: { owner: string; token: number },
    to: { owner: string; leaseMs: number },
    listening: number | null,
    timeoutMs: number,
    reserve = 0,
  ): Promise<Grant> {
    const { majority, spare } = this.#size
    const callMs = Math.min(timeoutMs, this.#callMs)
    const votes = await poll(
      this.#masters,
      (master) => master.handOver(keys, from, to, listening, callMs, reserve),
      (some) =>
        count(some, 'granted') >= majority ||
        ((count(some, 'yielded') >= majority || count(some, 'gone') > spare) && 'nearly'),
    )
    const granted = votes.filter(isGranted)
    if (granted.length >= majority) {
      const agreed = await this.#election.agree(keys, to.owner, granted, callMs)
      if (agreed !== null) return agreed
    }
    // Those who have it now, or may have it, are too few.
    const failed = failuresOf(votes).length
    const isMixed =
      votes.length === this.#masters.length && failed <= spare && count(votes, 'gone') <= spare
    if (count(votes, 'yielded') >= majority || (isMixed && count(votes, 'yielded') > 0)) {
      this.#election.giveBack(keys, to.owner, votes, callMs)
      return this.#splits.yielded(votes)
    }
    if (granted.length === 0 && votes.length === this.#masters.length) {
      if (count(votes, 'gone') > spare) return { kind: 'gone' }
    }
    throw this.#failure(votes, true)
  }

  async release(
    keys: LockKeys,
    owner: string,
    holds: number,
    _token: number | '',
    timeoutMs: number,
  ): Promise<Released> {
    const { majority, spare } = this.#size
    const callMs = Math.min(timeoutMs, this.#callMs)
    const votes = await poll(
      this.#masters,
      (master) => master.release(keys, owner, holds, callMs),
      (some) => {
        const gone = count(some, 'gone')
        return answersOf(some).length - gone >= majority || gone > spare
      },
    )
    const answers = answersOf(votes)
    this.#contention.released(keys, votes)
    if (answers.length < majority && count(votes, 'gone') <= spare) {
      throw this.#failure(votes, answers.length > 0)
    }
    if (count(votes, 'gone') > spare) return { kind: 'gone' }
    const listeners = answers.map((one) => (one.kind === 'freed' ? one.listeners : 0))
    return holds > 0 ? { kind: 'kept' } : { kind: 'freed', listeners: Math.max(0, ...listeners) }
  }

  renew(
    seats: readonly Seat[],
    leaseMs: number,
    timeoutMs: number,
  ): Promise<(number | CallFailure)[]> {
    return renewOnMost(this.#masters, this.#size, seats, leaseMs, timeoutMs, (seat) =>
      this.#election.abandon(lockKeys(seat.key), seat.wireOwner, this.#callMs),
    )
  }

  groups(seats: readonly Pick<Seat, 'key'>[]): number[][] {
    return seats.length === 0 ? [] : [[...seats.keys()]]
  }

  async forceRelease(keys: LockKeys, timeoutMs: number): Promise<string> {
    const callMs = Math.min(timeoutMs, this.#callMs)
    const votes = await poll(
      this.#masters,
      (master) => master.forceRelease(keys, callMs),
      (some) => answersOf(some).length >= this.#size.majority && 'nearly',
    )
    const answers = answersOf(votes)
    if (answers.length < this.#size.majority) {
      throw this.#failure(votes, answers.length > 0)
    }
    return mostOften(answers)?.value ?? ''
  }

  async inspect(keys: LockKeys, timeoutMs: number, most?: number): Promise<LockFacts> {
    const callMs = Math.min(timeoutMs, this.#callMs)
    const votes = await poll(
      this.#masters,
      (master) => master.inspect(keys, callMs, most),
      (some) => {
        const most = mostOften(answersOf(some).map(({ holder }) => holder))
        return (most?.times ?? 0) >= this.#size.majority && 'nearly'
      },
    )
    const facts = answersOf(votes)
    if (facts.length < this.#size.majority) throw this.#failure(votes, false)
    return this.#size.factsOf(facts)
  }

  listen(keys: LockKeys, onWake: () => void): Listening {
    return this.#contention.listen(keys, onWake)
  }

  get lateAtMostMs(): number {
    return Math.max(...this.#masters.map(({ node }) => node.lateAtMostMs))
  }

  get whyDown(): CallFailure | undefined {
    const down = this.#masters.flatMap((member) => {
      const answer = member.node.whyDown
      return answer === undefined ? [] : [{ member, answer }]
    })
    return down.length > this.#size.spare ? this.#failure(down, false) : undefined
  }

  get everUp(): boolean {
    return this.#masters.some(({ node }) => node.everUp)
  }

  connect(): void {
    for (const { node } of this.#masters) node.connect()
  }

  /** All of them together; null where one does not tell, for others may share the rest. */
  async identify(timeoutMs: number): Promise<string | null> {
    const callMs = Math.min(timeoutMs, this.#callMs)
    const votes = await poll(
      this.#masters,
      (master) => master.identify(callMs),
      (some) => answersOf(some).length >= this.#size.majority && 'nearly',
    )
    const ids = answersOf(votes)
    return ids.length < this.#size.all || ids.includes(null) ? null : ids.sort().join()
  }

  async quiet(): Promise<void> {
    await Promise.all(this.#masters.map((master) => master.quiet()))
  }

  /** The masters stay open. */
  close(): void {
    this.#closed = true
    for (const master of this.#masters) master.close()
  }

  #failure(votes: Votes<unknown>, mayBeDone: boolean): CallFailure {
    return this.#closed
      ? new CallFailure('closed', 'the client was closed')
      : this.#size.failure(votes, mayBeDone)
  }
}
