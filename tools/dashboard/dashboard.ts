import { InvalidArgumentError } from '../../src/index.ts'
import { withoutLogin } from '../servers/endpoint.ts'
import type { HistoryOptions } from './followed-history.ts'
import type { AccessOptions, Dashboard } from './handler/create.ts'
import { newDashboardOf } from './serving.ts'
import { type PlaceOptions, whereOf } from './where.ts'

export type { HistoryOptions } from './followed-history.ts'
export type { Access } from './handler/access.ts'
export type { AccessOptions, Dashboard, ReleaseEvent, Verdict } from './handler/create.ts'
export type {
  DashboardCluster,
  DashboardSentinels,
  LoginOptions,
  PlaceOptions,
  TlsFiles,
} from './where.ts'

/** The servers of the locks, the users, and the optional history. */
export interface DashboardOptions extends PlaceOptions, AccessOptions {
  /**
   * The history that `recordHistory` writes. With a history, the page shows waits, losses and
   * recorded holds. By default, the page shows no history.
   */
  readonly history?: HistoryOptions | undefined
}

/**
 * Makes a page that shows the locks of a deployment with their holders and waiters, and that stays
 * up to date. The dashboard connects when a viewer opens the page, and reads the locks once for all
 * viewers. It stops its requests soon after the last viewer has left.
 *
 * ```ts
 * const dashboard = newDashboard({ redis: 'redis://127.0.0.1:6379', authorize: () => 'read' })
 * app.use('/locks', login, dashboard.node)
 * ```
 *
 * @throws `InvalidArgumentError` for invalid servers, and for an invalid `authorize` or `release`
 */
export function newDashboard(options: DashboardOptions): Dashboard {
  const { authorize, release = false } = options
  if (typeof authorize !== 'function') {
    throw new InvalidArgumentError(
      "A dashboard needs authorize, a function that returns the rights of a request: 'none', 'read' or 'admin'. Behind your own login, use () => 'read'.",
    )
  }
  if (typeof release !== 'boolean') {
    throw new InvalidArgumentError(
      `release must be true or false; got ${typeof release === 'string' ? JSON.stringify(withoutLogin(release)) : typeof release}.`,
    )
  }
  return newDashboardOf(whereOf(options), options)
}
