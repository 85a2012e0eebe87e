import { refusal } from './replies.ts'

/**
 * The rights of a viewer. `none` refuses all requests, and `read` shows the locks. `admin` can also
 * release locks by force, if the option `release` is true.
 */
export type Access = 'none' | 'read' | 'admin'

/**
 * A request that changes something needs this header. A browser sends the header for a page of
 * another origin only if the dashboard allows the header by CORS. The dashboard never does.
 */
const HEADER = 'holdfast-dashboard'

/**
 * Checks if a request may change something.
 *
 * @param isOn true if the option `release` of the dashboard is true
 * @returns the refusal; null if the change is allowed
 */
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
