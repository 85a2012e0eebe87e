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

/**
 * One term of a leader. The term lasts until the function of `lead` has ended, or until the signal of the term aborts,
 * for example after `resign()` or a loss.
 */
export interface Term extends Pick<HeldTerm, (typeof MEMBERS)[number]> {}

/** The object behind a {@link Term}. */
export class HeldTerm {
  readonly #lease: Lease
  readonly #signal: LeaseSignal
  #isOver = false
  #handle: Term | undefined

  /** @internal */
  constructor(lease: Lease) {
    this.#lease = lease
    this.#signal = new LeaseSignal(() => this.#checkSignal())
    lease.signal.addEventListener('abort', () => this.#checkSignal(), { once: true })
  }

  /** The fencing token: greater than the token of every earlier term. */
  get token(): number {
    return this.#lease.token
  }

  /** The owner id of the candidate in Redis: `<clientId>:<owner>`. Each term has its own owner. */
  get owner(): string {
    return this.#lease.owner
  }

  /**
   * Aborts if the term ends before its function. After a loss, the reason is a `LeaseLostError`. If the lease expires,
   * the signal aborts shortly before another candidate can lead, unless the event loop is blocked. After `resign()`,
   * the reason is a `ResignedError`. When the client drains or closes, the reason is a `ClosedError`. If the `signal`
   * of `lead` aborts, this signal has the same reason. Each read of `aborted` checks the clocks.
   */
  get signal(): AbortSignal {
    return this.#signal.signal
  }

  /**
   * Aborts with a `ReleaseRequestedError` when another client or an operator asks the leader to resign. The term
   * continues until the leader resigns or its function ends. With `resignOnRequest` the leader resigns automatically.
   */
  get releaseRequested(): AbortSignal {
    return this.#lease.releaseRequested
  }

  /** True if this candidate leads now, by the clocks of this process. False after `resign()`. */
  get valid(): boolean {
    return !this.#isOver && this.#lease.valid
  }

  /**
   * Returns for how long the candidate still leads if its lease is not renewed, in milliseconds. 0 after the end of the
   * term.
   */
  remaining(): number {
    return this.#isOver ? 0 : this.#lease.remaining()
  }

  /**
   * Throws unless the term is valid. Call this method right before an important write, and pass the {@link token} with
   * the write.
   *
   * @throws the reason of {@link signal} if the signal has aborted, `InvalidArgumentError` if the function has ended
   */
  assertValid(): void {
    this.signal.throwIfAborted()
    if (this.#isOver) throw endedError(this.#lease.name)
    this.#lease.assertValid()
  }

  /** @internal */
  get handle(): Term {
    this.#handle ??= new TermHandle(this)
    return this.#handle
  }

  /**
   * Ends the term. If there is a `reason`, aborts the signal of the term with this reason.
   *
   * @internal
   */
  finish(reason?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    if (reason !== undefined) this.#signal.abort(reason as Error)
  }

  /**
   * Asks the server if this candidate still holds the lock. If it does not, the term ends as lost. Ignores failures.
   *
   * @internal
   */
  async verify(): Promise<void> {
    await this.#lease.extend(LEAST_MS).catch(() => {})
  }

  #checkSignal(): void {
    if (!this.#isOver && this.#lease.signal.aborted) this.finish(this.#lease.signal.reason)
  }
}

const TermHandle = handleClassOf(HeldTerm, MEMBERS, { variable: 'term' })

function endedError(name: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `The term of "${name}" is over: the function of lead() has ended. Await all work inside that function.`,
    name,
  )
}

/**
 * The shortest lease that `extend()` accepts, in milliseconds. `extend()` never shortens a lease.
 * So with this value, `extend()` only checks that the candidate still holds the lock.
 */
const LEAST_MS = 10
