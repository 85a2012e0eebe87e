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

/** One term as leader: from the grant until the function of `lead` has ended, or the term was lost. */
export interface Term extends Pick<HeldTerm, (typeof MEMBERS)[number]> {}

/** The internal object of a term. */
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

  /** The fencing token: greater than the token of every earlier term. */
  get token(): number {
    return this.#lease.token
  }

  /** The candidate as Redis stores it: `<clientId>:<owner>`. Each term has its own owner. */
  get owner(): string {
    return this.#lease.owner
  }

  /**
   * Aborts if the term ends before its function. The reason is a `LeaseLostError` when the lease is lost or no longer
   * safe, a margin before another candidate can lead. The reason is a `ResignedError` after `resign()`, and a
   * `ClosedError` when the client is closed or begins to drain. If the signal that was given to `lead` aborts, its
   * reason is used. `aborted` checks the clocks each time you read it.
   */
  get signal(): AbortSignal {
    return this.#signal.signal
  }

  /**
   * Aborts with a `ReleaseRequestedError` when another client or an operator asks the leader to step down. The term
   * continues until the leader resigns or its function ends. With `resignOnRequest` the leader resigns automatically.
   */
  get releaseRequested(): AbortSignal {
    return this.#lease.releaseRequested
  }

  /** True if this candidate leads now, by its own clocks. False after `resign()`. */
  get valid(): boolean {
    return !this.#isOver && this.#lease.valid
  }

  /**
   * How long the candidate leads without a renewal of its lease, in milliseconds; 0 if the term is
   * over.
   */
  remaining(): number {
    return this.#isOver ? 0 : this.#lease.remaining()
  }

  /**
   * Throws unless the term is valid. Call it right before an important write, and pass the {@link token} with the
   * write.
   *
   * @throws the reason of {@link signal} if that has aborted, `InvalidArgumentError` if the function has ended
   */
  assertValid(): void {
    this.signal.throwIfAborted()
    if (this.#isOver) throw overError(this.#lease.name)
    this.#lease.assertValid()
  }

  /**
   * The object that users get.
   *
   * @internal
   */
  get handle(): Term {
    this.#handle ??= new TermHandle(this)
    return this.#handle
  }

  /**
   * Ends the term. With a `reason`, aborts its signal.
   *
   * @internal
   */
  end(reason?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    if (reason !== undefined) this.#signal.abort(reason as Error)
  }

  /**
   * Asks the server if this candidate still holds the lock. If not, the term ends as lost.
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
    `The term of "${name}" is over: the function of lead() has ended. Await all work inside that function.`,
    name,
  )
}

/**
 * The shortest lease that `extend()` accepts, in milliseconds. `extend()` never shortens a lease,
 * so with this value it only checks that the lock is held.
 */
const LEAST_MS = 10
