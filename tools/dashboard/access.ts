import { refusal } from './replies.ts'

/**
 * The rights of a viewer. `none`: no access. `read`: see the locks. `admin`: also release them by
 * force, if `release` is on.
 */
export type Access = 'none' | 'read' | 'admin'

/**
 * Requests that change something need this header. For a page of another origin, the browser first
 * asks the dashboard, which never allows the header. So only its own page can send the header.
 */
const HEADER = 'holdfast-dashboard'

/** @returns the refusal, or null if the request may change something */
export function refuseChange(request: Request, access: Access, isOn: boolean): Response | null {
  if (!isOn)
    return refusal(
      403,
      'Release by force is off here. To allow it, pass `release: true` to newDashboard().',
    )
  if (access !== 'admin') return refusal(403, 'You may look, but only an "admin" may release.')
  if (!isOwnPage(request)) {
    return refusal(
      403,
      `Only the page itself may do this. The request is from another origin, or lacks the header ${HEADER}.`,
    )
  }
  return null
}

function isOwnPage({ headers }: Request): boolean {
  if (headers.get(HEADER) === null) return false
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = headers.get('origin')
  if (origin === null) return true
  return URL.canParse(origin) && new URL(origin).host === headers.get('host')
}
