import type { Tell } from '../events.ts'
import type { Clock } from '../lease/clock.ts'
import type { Keeper } from '../lease/keeper.ts'
import type { QueueNode } from '../redis/queue-node.ts'
import type { Servers } from '../redis/servers.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { Limits } from './patience.ts'
import type { Settler } from './settler.ts'

/** What all locks of one client share. */
export interface Context {
  readonly node: Servers
  readonly queues: QueueNode
  readonly heartbeat: Heartbeat
  readonly keeper: Keeper
  readonly settler: Settler
  readonly clock: Clock
  readonly limits: Limits
  readonly tell: Tell
}
