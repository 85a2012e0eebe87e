import type { Emit } from '../events.ts'
import { within } from '../kit/within.ts'
import { systemClock } from '../lease/clock.ts'
import { type StandIn, Watchdog } from '../lease/watchdog.ts'
import { Heartbeat } from '../locks/fair/heartbeat.ts'
import type { Frames } from '../owner/frames.ts'
import type { Owners } from '../owner/owners.ts'
import type { LockServer } from '../servers/lock-server.ts'
import { PendingReleases } from '../servers/pending-releases.ts'
import { FairCommands } from '../servers/redis/fair-commands.ts'
import type { RedisServer } from '../servers/redis/redis-server.ts'
import type { Settings } from '../settings.ts'
import { ResponseTime } from '../waiting/response-time.ts'
import { LocalLocks } from './local-locks.ts'
import { ServerRenewer } from './server-renewer.ts'

/** What all locks of one client share, wherever they live. */
export interface Client {
  readonly owners: Owners
  readonly frames: Frames
  readonly settings: Settings
  readonly emit: Emit
}

/** Where the locks of one client live. */
interface Place {
  /** One server, or a majority of several. */
  readonly servers: LockServer
  readonly nodes: readonly RedisServer[]
  /** A longer lease is refused, in milliseconds; left out where any is taken. */
  readonly longestLeaseMs?: number
  /** Renews while the main thread cannot. */
  readonly standIn?: StandIn | undefined
}

/** All that it takes for a client to have locks on one server, or on a majority of several. */
export class Backend {
  readonly registry: LocalLocks
  readonly #servers: LockServer
  readonly #watchdog: Watchdog
  readonly #pendingReleases: PendingReleases
  readonly #heartbeat: Heartbeat
  readonly #closeMs: number
  readonly #ignoreUps: readonly (() => void)[]

  constructor(
    { owners, frames, settings, emit }: Client,
    { servers, nodes, longestLeaseMs, standIn }: Place,
  ) {
    const { leaseMs, commandTimeoutMs, outageMs, label, counterTtlMs } = settings
    const [first] = nodes as [RedisServer]
    this.#servers = servers
    this.#closeMs = commandTimeoutMs
    this.#watchdog = new Watchdog(
      new ServerRenewer(servers),
      leaseMs,
      systemClock,
      {
        renewed: (holds) => emit('renewed', { holds }),
        late: (hold, cause) =>
          emit('late', {
            name: hold.lockName,
            owner: hold.id.wireOwner,
            token: hold.token,
            remainingMs: hold.remainingMs(),
            cause,
          }),
      },
      standIn,
    )
    // After a reconnect it may be another server, or an emptied one.
    this.#ignoreUps = nodes.map((node) => node.onUp(() => this.#watchdog.verifyAll()))
    this.#pendingReleases = new PendingReleases(commandTimeoutMs)
    const fairCommands = new FairCommands(first.runner, owners.clientId, label, counterTtlMs)
    this.#heartbeat = new Heartbeat(first, fairCommands, systemClock)
    this.registry = new LocalLocks(
      owners,
      {
        server: servers,
        fairCommands,
        heartbeat: this.#heartbeat,
        watchdog: this.#watchdog,
        pendingReleases: this.#pendingReleases,
        clock: systemClock,
        limits: {
          commandTimeoutMs,
          outageMs,
          responseTime: new ResponseTime(),
          whyDown: () => servers.whyDown,
        },
        emit,
      },
      frames,
      leaseMs,
      longestLeaseMs,
    )
  }

  /** Releases what is held and lets nobody wait any more. The servers stay open. */
  async close(): Promise<void> {
    const released = this.registry.close()
    if (this.#servers.everUp) {
      // A little longer than a call may take: what stays unanswered is then known, and settled.
      await within(this.#closeMs + 50, released)
      await within(
        this.#closeMs,
        this.#pendingReleases.close().then(() => this.#servers.quiet()),
      )
    }
    for (const ignore of this.#ignoreUps) ignore()
    this.#heartbeat.close()
    this.#watchdog.close()
  }
}
