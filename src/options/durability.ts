import { HoldfastError, InvalidArgumentError, OF_LOCK } from '../errors.ts'
import { show } from '../kit/show.ts'
import { boolean, unchecked, wholeMs } from './input.ts'
import { or, shape } from './shape.ts'

export interface DurabilityOptions {
  /**
   * The number of replicas that must have an acquisition before it counts. `'all'` means all replicas that the master
   * lists as connected, but at least one.
   */
  replicas: number | 'all'
  /**
   * How long the client waits until the replicas confirm an acquisition, in milliseconds. It must be less than
   * `leaseMs`. An acquisition may take twice as long, because the wait for earlier acquisitions must end first. If
   * `leaseMs` is below 2,000, the default is half of `leaseMs`.
   *
   * @default 1_000
   */
  timeoutMs?: number
  /**
   * With true, the master and each counted replica must have the acquisition on disk. The server needs `appendonly yes`
   * and `WAITAOF`, which exists in Redis 7.2 and every Valkey. With `fsync`, `replicas` may be 0. With `appendfsync
   * everysec`, a confirmation takes up to 2 s, so `timeoutMs` must be larger.
   *
   * @default false
   */
  fsync?: boolean
}

/** The option `durability` after its check, with all defaults. */
export type Durability = Readonly<Required<DurabilityOptions>>

const TIMEOUT_MS = 1_000

/**
 * Checks the option `durability`, and adds its defaults.
 *
 * @param leaseMs the lease of the client, in milliseconds. `timeoutMs` must be shorter, because a confirmation after
 * the end of the lease is useless
 */
export function durabilityOf(
  given: unknown,
  hasMasters: boolean,
  leaseMs: number,
): Durability | undefined {
  if (given === undefined) return undefined
  if (hasMasters) {
    throw new InvalidArgumentError(
      '`durability` cannot be combined with `masters`: a majority of them holds each lock, so the lock survives the ' +
        'failure of any minority. Leave `durability` out, or give one `redis` that has replicas.',
    )
  }
  const timeoutMs = (value: unknown, what: string) => wholeMs(value, what, leaseMs - 1)
  const fields = {
    replicas: unchecked,
    timeoutMs: or(timeoutMs, Math.min(TIMEOUT_MS, Math.floor(leaseMs / 2))),
    fsync: or(boolean, false),
  }
  const { replicas, ...others } = shape('`durability`', fields, 'durability.')(given)
  const { fsync } = others
  const isWhole = Number.isSafeInteger(replicas) && (replicas as number) >= (fsync ? 0 : 1)
  if (replicas !== 'all' && !isWhole) {
    throw new InvalidArgumentError(
      `\`durability.replicas\` must be a positive whole number or 'all', or 0 with \`fsync\`; got ${show(replicas)}.`,
    )
  }
  return { replicas: replicas as number | 'all', ...others }
}

/** The numbers in the error about a grant that too few replicas confirmed. */
type ShortfallNumbers = Pick<
  NotDurableError,
  'wanted' | 'confirmed' | 'connected' | 'fsynced' | 'timeoutMs'
>

/**
 * The lock was granted, but fewer replicas confirmed the grant in time than the client's `durability` requires. So the
 * lock is not acquired, and the client undoes the grant. If the number of confirmations is unknown, the call rejects
 * with another error.
 */
export class NotDurableError extends HoldfastError {
  /** The number of replicas that had to confirm the grant. */
  readonly wanted: number | 'all'
  /** The number of replicas that confirmed the grant in time. */
  readonly confirmed: number
  /** The number of replicas that the master listed as connected; undefined if the master does not report the number. */
  readonly connected: number | undefined
  /** True if the master has the grant on disk. Undefined without `fsync`, and if the master was not asked. */
  readonly fsynced: boolean | undefined
  /** How long the replicas had to confirm the grant, in milliseconds. */
  readonly timeoutMs: number

  constructor(lockName: string, shortfall: ShortfallNumbers, { noun } = OF_LOCK) {
    const { wanted, confirmed, connected, fsynced, timeoutMs } = shortfall
    const all =
      wanted === 'all'
        ? 'all replicas (at least one)'
        : wanted === 1
          ? '1 replica'
          : `${wanted} replicas`
    const listed = connected === undefined ? '' : `; the master lists ${connected} as connected`
    const onDisk =
      fsynced === undefined ? '' : `; the master has it ${fsynced ? '' : 'not yet '}on disk`
    super(
      'HOLDFAST_NOT_DURABLE',
      `${noun} "${lockName}": not acquired: ${all} had to confirm it within ${timeoutMs} ms, and ${confirmed} ` +
        `did${listed}${onDisk}. It was released again. Check that the replicas are connected and keep up, or require ` +
        'fewer in `durability`.',
      { lockName },
    )
    this.wanted = wanted
    this.confirmed = confirmed
    this.connected = connected
    this.fsynced = fsynced
    this.timeoutMs = timeoutMs
  }
}
