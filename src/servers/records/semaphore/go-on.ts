import type { Clock } from '../../../kit/clock.ts'
import { type PermitAttempt, waitedMsFrom } from '../../permit-pool.ts'
import type { OpenRecord } from '../open-record.ts'
import { enterQueue, goOn } from './permit-queue.ts'
import { beganUs, POOL, type WaitBegan } from './pool.ts'

/** Returns the parts of an attempt that depend on the client and on the present time. */
export function waitGiven(
  { waits, beganAt, behind }: Pick<PermitAttempt, 'waits' | 'beganAt' | 'behind'>,
  clientId: string,
  clock: Clock,
): Omit<PlaceHolder, 'isLast'> & Pick<WaitBegan, 'waitedMs'> {
  return {
    client: waits ? clientId : '',
    waitedMs: waitedMsFrom(beganAt, clock),
    behind: behind && {
      permits: behind.permits,
      waitedMs: waitedMsFrom(behind.beganAt, clock),
    },
  }
}

/** The part of an attempt that decides which waiter has the place of the client after a grant. */
export interface PlaceHolder {
  /** The id of the client if the call waits; '' if it does not wait. */
  readonly client: string
  /** True if no other call of the client waits for permits. */
  readonly isLast: boolean
  /** The next waiting call of the client; undefined if no other call waits. */
  readonly behind: { readonly permits: number; readonly waitedMs: number } | undefined
}

/**
 * Called when a waiter of the client has its permits. If too few permits are available for the
 * client's next waiter, gives the client's place to the next waiter.
 *
 * @returns when the next waiter began to wait, in µs of the server's time. Undefined if there is no
 * next waiter, or if the next waiter must send a request at once
 */
export function goOnTo(
  record: OpenRecord,
  { client, isLast, behind }: PlaceHolder,
): number | undefined {
  const { queue, available } = record.part(POOL)
  if (behind === undefined || behind.permits <= (available ?? 0)) {
    goOn(queue, client, isLast, record.nowMs)
    return undefined
  }
  const { permits, waitedMs } = behind
  const sinceUs = beganUs(record, { waitId: '', waitedMs })
  enterQueue(queue, { client, sinceUs, permits }, record.nowMs)
  return sinceUs
}
