import { hostname } from 'node:os'
import { setImmediate as turn } from 'node:timers/promises'
import { ChannelObserver } from '../channels/channel-observer.ts'
import type { Emit } from '../events.ts'
import { systemClock } from '../kit/clock.ts'
import { VERSION } from '../kit/version.ts'
import { within } from '../kit/within.ts'
import { HeldWatch } from '../lease/held-watch.ts'
import { Watchdog } from '../lease/watchdog.ts'
import { defaultsOf } from '../options/acquisition.ts'
import type { Settings } from '../options/settings.ts'
import type { Frames } from '../owner/frames.ts'
import { HeldLeases } from '../owner/held-leases.ts'
import type { Owners } from '../owner/owners.ts'
import type { LockServer } from '../servers/lock-server.ts'
import type { Presence } from '../servers/presence.ts'
import { ResponseTime } from '../waiting/response-time.ts'
import { WaitReports } from '../waiting/wait-reports.ts'
import { FreeWatches } from './free-watches.ts'
import type { HolderRequests } from './holder-requests.ts'
import type { CutOffHold } from './holdings.ts'
import { LocalLocks } from './local-locks.ts'
import { Revocations } from './revocations.ts'
import type { ServerConnection } from './server-connection.ts'
import { ServerRenewer } from './server-renewer.ts'
import { ShortLeases } from './short-leases.ts'

/** The parts of one client that its locks on all servers and quorums share. */
export interface SharedParts {
  readonly owners: Owners
  readonly frames: Frames
  readonly settings: Settings
  readonly emit: Emit
  readonly requests: HolderRequests
}

/** The parts of one client that its locks on one server or quorum share. */
export class Backend {
  readonly registry: LocalLocks
  readonly #server: LockServer
  readonly #watchdog: Watchdog
  readonly #closeMs: number
  readonly #ignoreUps: () => void
  readonly #presence: Presence
  readonly #waitReports: WaitReports

  constructor(
    { owners, frames, settings, emit, requests }: SharedParts,
    {
      server,
      longestLeaseMs = Infinity,
      leastLeaseMs = 0,
      standIn,
      clock = systemClock,
    }: ServerConnection,
  ) {
    const { leaseMs, commandTimeoutMs, outageMs, heldWarningMs } = settings
    const info = {
      client: owners.clientId,
      label: settings.label,
      host: hostname(),
      pid: process.pid,
      version: VERSION,
      startedAt: clock.now().wall,
    }
    this.#presence = server.presenceFor({ info, leaseMs, tells: settings.presence })
    this.#waitReports = new WaitReports({ presence: this.#presence, clock })
    const { client, label } = info
    const observer = new ChannelObserver({ client, label, notes: this.#presence }, clock)
    this.#server = server
    this.#closeMs = commandTimeoutMs
    this.#watchdog = new Watchdog(
      new ServerRenewer(server),
      leaseMs,
      clock,
      {
        renewing: (holds, lateMs) => observer.renewing(holds, lateMs),
        renewed: (holds) => emit('renewed', { holds }),
        late: (hold, cause) => {
          // A kept hold has no owner that could learn of the failure.
          if (!hold.reported) return
          emit('late', {
            name: hold.lockName,
            owner: hold.id.ownerId,
            token: hold.token,
            remainingMs: hold.remainingMs(),
            cause,
          })
        },
      },
      standIn,
    )
    // After a reconnect, the server may be another server, or may have lost its data. So the watchdog renews or checks
    // all holds. A kept lock has no holder that could learn of a loss, so the client frees the kept lock.
    this.#ignoreUps = server.onUp(() => {
      this.#watchdog.verifyAll()
      for (const kept of this.registry.kept) void kept.free()
    })
    const responseTime = new ResponseTime()
    const limits = {
      clock,
      commandTimeoutMs,
      outageMs,
      patienceMs: settings.patienceMs,
      responseTime,
      words: server.words,
      address: server.address,
      whyDown: () => server.whyDown,
    }
    const holds = () => this.registry.holds
    const kept = (key: string) => this.registry.find(key)?.kept
    const allKept = () => this.registry.kept
    const parts = { client, label, requests, holds, kept, allKept }
    const revocations = new Revocations(server.requests, parts, limits)
    this.registry = new LocalLocks(
      owners,
      {
        observer,
        server,
        watchdog: this.#watchdog,
        clock,
        heldWatch: heldWarningMs === undefined ? undefined : new HeldWatch(heldWarningMs, clock),
        limits,
        emit,
        freeWatches: new FreeWatches(limits, emit),
        revocations,
        own: info,
        presence: this.#presence,
        waitReports: this.#waitReports,
        leases: new HeldLeases(clock),
        sharedLeases: new HeldLeases(clock),
        shortLeases: new ShortLeases(leastLeaseMs, responseTime),
        longestLeaseMs,
      },
      frames,
      defaultsOf(settings),
    )
  }

  /**
   * Refuses new acquisitions. An owner that holds a lock may still acquire this lock again.
   *
   * @returns resolves when the client holds no locks and waits for none
   */
  drain(): Promise<void> {
    return this.registry.drain()
  }

  /**
   * Releases all holds and rejects all waiters. The connections stay connected.
   *
   * @returns the holds that this call ended
   */
  async shutDown(): Promise<CutOffHold[]> {
    const { cutOff, untilReleased } = this.registry.shutDown()
    if (this.#server.everUp) {
      // The extra 50 ms let requests without an answer time out. So their outcome is known before
      // the client waits for background releases.
      await untilReleased(this.#closeMs + 50)
      // After a blocked event loop, requests that have timed out are rejected only in the next
      // turn.
      await turn()
      await within(this.#closeMs, this.#server.quiet())
    }
    this.#ignoreUps()
    this.registry.closed()
    this.registry.heldWatch?.stopTimer()
    this.#watchdog.untrackAll()
    this.#waitReports.stopTimer()
    this.#presence.withdraw()
    return cutOff
  }
}
