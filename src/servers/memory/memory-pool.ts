import type { WaitingForPermits } from '../answers.ts'
import type { NumberKind } from '../number-kind.ts'
import type { PendingReleases } from '../pending-releases.ts'
import { isMeant, type PermitAttempt, waitedMsFrom } from '../permit-pool.ts'
import type { Subscription } from '../subscription.ts'
import type { Channels } from './channels.ts'
import { refuseOtherKinds } from './kind-of-lock.ts'
import type { MemoryLockServer } from './memory-server.ts'
import type { LockRecord } from './records/lock-record.ts'
import { timeUs } from './records/moments.ts'
import type { SemaphoreRecord } from './records/semaphore-record.ts'

export interface PoolConnection {
  readonly server: MemoryLockServer
  readonly counterMs: number
  readonly pendingReleases: PendingReleases
  request<T>(work: (now: number) => T): Promise<T>
  listen<M>(channels: Channels<M>, name: string, onMessage: (message?: M) => void): Subscription
}

/** One semaphore of either kind on a server in memory, as one client uses it. */
export class MemoryPool {
  readonly connection: PoolConnection
  readonly clientId: string
  readonly rawName: string
  readonly kind: Exclude<NumberKind, 'latch'>

  constructor(
    connection: PoolConnection,
    clientId: string,
    rawName: string,
    kind: Exclude<NumberKind, 'latch'>,
  ) {
    this.connection = connection
    this.clientId = clientId
    this.rawName = rawName
    this.kind = kind
  }

  /**
   * Calls `verb` with the record of the semaphore. Throws if a lock, a latch or the other kind of
   * semaphore uses the name.
   */
  request<T>(verb: (record: LockRecord, now: number) => T): Promise<T> {
    return this.connection.request((now) => {
      const record = this.connection.server.record(this.rawName, now)
      refuseOtherKinds(record, this.kind)
      return verb(record, now)
    })
  }

  /**
   * Returns when the call began to wait, in µs of the server's time. The value comes from an
   * earlier answer, or else from the client's clock.
   */
  sinceUs({ since, beganAt }: PermitAttempt, now: number): number {
    if (since !== '') return Number(since)
    return (
      this.connection.server.tokenFloor(now) -
      waitedMsFrom(beganAt, this.connection.server.clock) * 1_000
    )
  }

  /**
   * Sends a message to the client that is next, if enough permits are available for it.
   *
   * @param but the id of a client that gets no message
   */
  wakeNext({ waiting, available }: SemaphoreRecord, now: number, but?: string): void {
    if (available <= 0) return
    const first = waiting.first(now)
    if (first === undefined || first.client === but || first.permits > available) return
    this.publish(first.client)
  }

  publish(client: string): void {
    this.connection.server.tickets.publish(this.rawName, client)
  }

  listen(onWake: (message?: string) => void): Subscription {
    const { server } = this.connection
    return this.connection.listen(server.tickets, this.rawName, (message) => {
      if (message === undefined || isMeant(message, this.clientId)) onWake(message)
    })
  }
}

/**
 * Returns the clients whose places still count, in the order in which they get permits.
 *
 * @param most the largest number of clients to read
 */
export function waitingFacts(
  { waiting }: SemaphoreRecord,
  most: number,
  now: number,
): WaitingForPermits[] {
  return waiting
    .list(most)
    .filter(({ untilMs }) => untilMs >= now)
    .map(({ client, sinceUs, permits }) => {
      const waitedMs = Math.max(0, Math.round((timeUs(now) - sinceUs) / 1_000))
      return { client, waitedMs, permits }
    })
}
