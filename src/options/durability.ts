import { HoldfastError, InvalidArgumentError, OF_LOCK } from '../errors.ts'
import { show } from '../kit/show.ts'
import { assertBoolean, optionsOf, wholeMs } from './input.ts'

export interface DurabilityOptions {
  /**
   * How many replicas have to have an acquisition before it counts; or `'all'` that the master lists as
   * connected when it is asked, of which there has to be one at least.
   */
  replicas: number | 'all'
  /**
   * How long they have to confirm it, in milliseconds: less than `leaseMs`. Where other acquisitions are being
   * confirmed these come first, and it may take twice as long.
   *
   * @default 1_000
   */
  timeoutMs?: number
  /**
   * Whether a copy counts only when it is on disk, and the master's own has to be there too: by `WAITAOF`, which
   * servers have from Redis 7.2 and in every Valkey, with `appendonly yes`. `replicas` may be 0 with it. With
   * `appendfsync everysec` it takes up to 2 s: give `timeoutMs` accordingly.
   *
   * @default false
   */
  fsync?: boolean
}

/** Where a grant has to be before it counts. */
export type Durability = Readonly<Required<DurabilityOptions>>

/**
 * How `durability` is meant.
 *
 * @param longestMs what is confirmed later is of no use, in milliseconds
 */
export function durabilityOf(
  given: unknown,
  hasMasters: boolean,
  longestMs: number,
): Durability | undefined {
  if (given === undefined) return undefined
  if (hasMasters) {
    throw new InvalidArgumentError(
      '`durability` does not go together with `masters`: a majority of them has each lock, which outlives any ' +
        'minority of them. Leave it out; or give one `redis` that has replicas.',
    )
  }
  const options = optionsOf(given, '`durability`', ['replicas', 'timeoutMs', 'fsync'])
  const { replicas, timeoutMs = 1_000, fsync = false } = options as Partial<DurabilityOptions>
  assertBoolean(fsync, '`durability.fsync`')
  const isWhole = Number.isSafeInteger(replicas) && (replicas as number) >= (fsync ? 0 : 1)
  if (replicas !== 'all' && !isWhole) {
    throw new InvalidArgumentError(
      `\`durability.replicas\` must be a positive whole number or 'all', or 0 with \`fsync\`; got ${show(replicas)}.`,
    )
  }
  return {
    replicas: replicas as number | 'all',
    timeoutMs: wholeMs(timeoutMs, '`durability.timeoutMs`', longestMs),
    fsync,
  }
}

/** Fewer replicas have a grant than wanted. */
type Shortfall = Pick<
  NotDurableError,
  'wanted' | 'confirmed' | 'connected' | 'fsynced' | 'timeoutMs'
>

/**
 * The lock was granted, and fewer replicas confirmed that in time than the client's `durability` wants: so it was
 * not acquired, and the grant is undone. Never used where it is not known how many have it.
 */
export class NotDurableError extends HoldfastError {
  /** How many replicas were to confirm it. */
  readonly wanted: number | 'all'
  /** How many did. */
  readonly confirmed: number
  /** How many the master listed as connected; undefined where it does not tell. */
  readonly connected: number | undefined
  /** Whether the master has it on disk; undefined without `fsync`, and where it was not asked. */
  readonly fsynced: boolean | undefined
  /** How long they had, in milliseconds. */
  readonly timeoutMs: number

  constructor(lockName: string, shortfall: Shortfall, { noun } = OF_LOCK) {
    const { wanted, confirmed, connected, fsynced, timeoutMs } = shortfall
    const all = wanted === 'all' ? 'all replicas, and one at least,' : `${wanted} replicas`
    const listed = connected === undefined ? '' : `; the master lists ${connected} as connected`
    const onDisk =
      fsynced === undefined ? '' : `; the master has it ${fsynced ? '' : 'not yet '}on disk`
    super(
      'HOLDFAST_NOT_DURABLE',
      `${noun} "${lockName}": not acquired: ${all} were to confirm it within ${timeoutMs} ms, and ${confirmed} ` +
        `did${listed}${onDisk}. It is released again. Check that the replicas are connected and keep up, or ask for less ` +
        'in `durability`.',
      { lockName },
    )
    this.wanted = wanted
    this.confirmed = confirmed
    this.connected = connected
    this.fsynced = fsynced
    this.timeoutMs = timeoutMs
  }
}
