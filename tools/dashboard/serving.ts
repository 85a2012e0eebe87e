import { openDeployment } from '../deployment/open-deployment.ts'
import { hasPassword, whereOptions } from '../deployment/where-options.ts'
import type { Where } from '../servers/where.ts'
import { type AccessOptions, createDashboard, type Dashboard } from './create.ts'
import { FollowedHistory, type HistoryOptions } from './history.ts'

export { forNode } from './node-requests.ts'

/** @internal Makes the dashboard for these servers. */
export function newDashboardOf(
  where: Where,
  { history, ...access }: AccessOptions & { readonly history?: HistoryOptions | undefined },
): Dashboard {
  const followed = history && new FollowedHistory(history)
  const dashboard = createDashboard(async () => openDeployment(where), access, {
    address: openDeployment(where).address,
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
