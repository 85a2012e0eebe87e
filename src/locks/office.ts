import type { Tell } from '../events.ts'
import { systemClock } from '../lease/clock.ts'
import { Keeper, type StandIn } from '../lease/keeper.ts'
import type { Frames } from '../owner/frames.ts'
import type { Owners } from '../owner/owners.ts'
import type { LockNode } from '../redis/lock-node.ts'
import { QueueNode } from '../redis/queue-node.ts'
import type { Servers } from '../redis/servers.ts'
import { within } from '../redis/within.ts'
import type { Settings } from '../settings.ts'
import { Desk } from './desk.ts'
import { Heartbeat } from './heartbeat.ts'
import { NodeRenewer } from './node-renewer.ts'
import { Pace } from './pace.ts'
import { Settler } from './settler.ts'

/** What all locks of one client share, wherever they live. */
export interface Client {
  readonly owners: Owners
  readonly frames: Frames
  readonly settings: Settings
  readonly tell: Tell
}

/** Where the locks of one client live. */
interface Residence {
  /** One server, or a majority of several. */
  readonly servers: Servers
  readonly nodes: readonly LockNode[]
  /** A longer lease is refused, in milliseconds; left out where any is taken. */
  readonly longestLeaseMs?: number
  /** Renews while the main thread cannot. */
  readonly standIn?: StandIn | undefined
}

/** All that it takes for a client to have locks on one server, or on a majority of several. */
export class Office {
  readonly desk: Desk
  readonly #servers: Servers
  readonly #keeper: Keeper
  readonly #settler: Settler
  readonly #heartbeat: Heartbeat
  readonly #closeMs: number
  readonly #ignoreUps: readonly (() => void)[]

  constructor(
    { owners, frames, settings, tell }: Client,
    { servers, nodes, longestLeaseMs, standIn }: Residence,
  ) {
    const { leaseMs, commandTimeoutMs, outageMs, label, counterTtlMs } = settings
    const [first] = nodes as [LockNode]
    this.#servers = servers
    this.#closeMs = commandTimeoutMs
    this.#keeper = new Keeper(
      new NodeRenewer(servers),
      leaseMs,
      systemClock,
      {
        renewed: (holds) => tell('renewed', { holds }),
        late: (hold, cause) =>
          tell('late', {
            name: hold.lockName,
            owner: hold.seat.wireOwner,
            token: hold.token,
            remainingMs: hold.remainingMs(),
            cause,
          }),
      },
      standIn,
    )
    // After a reconnect it may be another server, or an emptied one.
    this.#ignoreUps = nodes.map((node) => node.onUp(() => this.#keeper.verifyAll()))
    this.#settler = new Settler(commandTimeoutMs)
    const queues = new QueueNode(first.calls, owners.clientId, label, counterTtlMs)
    this.#heartbeat = new Heartbeat(first, queues, systemClock)
    this.desk = new Desk(
      owners,
      {
        node: servers,
        queues,
        heartbeat: this.#heartbeat,
        keeper: this.#keeper,
        settler: this.#settler,
        clock: systemClock,
        limits: { commandTimeoutMs, outageMs, pace: new Pace(), whyDown: () => servers.whyDown },
        tell,
      },
      frames,
      leaseMs,
      longestLeaseMs,
    )
  }

  /** Releases what is held and lets nobody wait any more. The servers stay open. */
  async close(): Promise<void> {
    const released = this.desk.close()
    if (this.#servers.everUp) {
      // A little longer than a call may take: what stays unanswered is then known, and settled.
      await within(this.#closeMs + 50, released)
      await within(
        this.#closeMs,
        this.#settler.close().then(() => this.#servers.quiet()),
      )
    }
    for (const ignore of this.#ignoreUps) ignore()
    this.#heartbeat.close()
    this.#keeper.close()
  }
}
