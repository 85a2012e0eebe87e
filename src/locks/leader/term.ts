import { InvalidArgumentError } from '../../errors.ts'
import { handleClassOf } from '../../kit/handle.ts'
import type { Lease } from '../../lease/lease.ts'
import { LeaseSignal } from '../../lease/lease-signal.ts'

const MEMBERS = [
  'token',
  'owner',
  'signal',
  'releaseRequested',
  'valid',
  'remaining',
  'assertValid',
] as const

/** One time of leading: from the grant until the function of `lead` has ended, or the term was lost. */
export interface Term extends Pick<HeldTerm, (typeof MEMBERS)[number]> {}

/** A term of this candidate. */
export class HeldTerm {
  readonly #lease: Lease
  readonly #signal: LeaseSignal
  #isOver = false
  #handle: Term | undefined

  /** @internal */
  constructor(lease: Lease) {
    this.#lease = lease
    this.#signal = new LeaseSignal(() => this.#look())
    lease.signal.addEventListener('abort', () => this.#look(), { once: true })
  }

  /** The fencing token: greater than that of every term before. */
  get token(): number {
    return this.#lease.token
  }

  /** The candidate as Redis knows it, `<clientId>:<owner>`: another one for each term. */
  get owner(): string {
    return this.#lease.owner
  }

  /**
   * Aborts when the term ends before its function has: a margin before another can lead, with a `LeaseLostError`,
   * when the lease is lost or no longer safe; with a `ResignedError` at `resign()`; with the reason of the signal
   * that was given to `lead`; with a `ClosedError` when the client is closed, or
   * begins to drain. `aborted` looks at the clocks each time it is read.
   */
  get signal(): AbortSignal {
    return this.#signal.signal
  }

  /**
   * Aborts when another client or an operator asks the leader to step down, with a `ReleaseRequestedError`. The term goes
   * on until the leader resigns, or its function ends. With `resignOnRequest` it resigns by itself.
   */
  get releaseRequested(): AbortSignal {
    return this.#lease.releaseRequested
  }

  /** Whether this candidate leads, by its own clocks at this moment. False from `resign()` on. */
  get valid(): boolean {
    return !this.#isOver && this.#lease.valid
  }

  /** For how long it leads unless its lease is renewed, in milliseconds; 0 when the term is over. */
  remaining(): number {
    return this.#isOver ? 0 : this.#lease.remaining()
  }

  /**
   * For the line before a write that matters, which needs the {@link token} all the same.
   *
   * @throws the reason of {@link signal} when that has aborted, `InvalidArgumentError` when the function has ended
   */
  assertValid(): void {
    this.signal.throwIfAborted()
    if (this.#isOver) throw overError(this.#lease.name)
    this.#lease.assertValid()
  }

  /**
   * What users have of it.
   *
   * @internal
   */
  get handle(): Term {
    this.#handle ??= new TermHandle(this)
    return this.#handle
  }

  /**
   * It is over from now on, for whoever asks: and with a reason, for those who listen.
   *
   * @internal
   */
  end(reason?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    if (reason !== undefined) this.#signal.abort(reason as Error)
  }

  /**
   * Asks the server whether it has the lock still: if not, the term is lost by that.
   *
   * @internal
   */
  async verify(): Promise<void> {
    await this.#lease.extend(LEAST_MS).catch(() => {})
  }

  #look(): void {
    if (!this.#isOver && this.#lease.signal.aborted) this.end(this.#lease.signal.reason)
  }
}

const TermHandle = handleClassOf(HeldTerm, MEMBERS, { variable: 'term' })

function overError(name: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `The term of "${name}" is over: the function of lead() has ended. Wait for all of the work inside.`,
    name,
  )
}

/** A lease is never shortened: any time will do. */
const LEAST_MS = 10
