import { openInspection } from '../inspection/redis/redis-inspection.ts'
import { hasPassword, whereOptions } from '../inspection/redis/where-options.ts'
import type { Where } from '../servers/where.ts'
import { FollowedHistory, type HistoryOptions } from './followed-history.ts'
import { type AccessOptions, createDashboard, type Dashboard } from './handler/create.ts'

export { forNode } from './handler/node-requests.ts'

/** @internal Makes the dashboard for these servers. */
export function newDashboardOf(
  where: Where,
  { history, ...access }: AccessOptions & { readonly history?: HistoryOptions | undefined },
): Dashboard {
  const followed = history && new FollowedHistory(history)
  const dashboard = createDashboard(async () => openInspection(where), access, {
    address: openInspection(where).address,
    serverName: 'Redis',
    command: { options: whereOptions(where), hasPassword: hasPassword(where) },
    history: followed && (() => followed.index()),
  })
  return {
    ...dashboard,
    async close() {
      followed?.stopFollowing()
      await dashboard.close()
    },
  }
}
