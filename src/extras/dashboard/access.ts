import { refusal } from './replies.ts'

/** The rights of a viewer: none, look, or also release locks of others if `release` is on. */
export type Access = 'none' | 'read' | 'admin'

/** A page of another origin cannot send it without being asked for by the browser first, which gets no leave here. */
const HEADER = 'holdfast-dashboard'

/** @returns what to answer instead, or null where it may change something */
export function refuseChange(request: Request, access: Access, isOn: boolean): Response | null {
  if (!isOn)
    return refusal(
      403,
      'Releasing by force is switched off here: `release: true` of newDashboard().',
    )
  if (access !== 'admin') return refusal(403, 'You may look, but not release: that takes "admin".')
  if (!isOwnPage(request)) {
    return refusal(
      403,
      `This is for the page itself: a request of another origin, or without the header ${HEADER}.`,
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
