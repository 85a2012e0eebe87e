import type { Notes } from '../diagnostics.ts'
import type { ClientInfo } from '../errors.ts'
import { cutTo } from '../kit/printable.ts'

export type { ClientInfo } from '../errors.ts'

/** What a client has to tell. */
export interface OwnInfo {
  readonly info: ClientInfo
  /** To which it renews leases as a rule, in milliseconds. */
  readonly leaseMs: number
  /** Whether it tells anything, or only asks. */
  readonly tells: boolean
}

/** What one client tells others at a place about itself, and what they tell. No lock depends on it. */
export interface Presence extends Notes {
  /** It has leases that are renewed to so many milliseconds: it is to be known for longer than that. */
  renews(leaseMs: number): void
  /** Since when the client waits for which keys: JSON, from each key to a moment on the client's wall clock, in ms. */
  reportWaits(waits: string): void
  /** Who a client is; null where that is not known. Rejects with a `CallFailure` and nothing else. */
  clientInfo(clientId: string, callMs: number): Promise<ClientInfo | null>
  /** The client is closed: others are to know it no more. The servers may stay open. */
  close(): void
}

/** The longest label, or name of a host, that is read of another client. */
const LONGEST = 255

/**
 * Reads how a client describes itself, from its JSON.
 *
 * @param about the field `about` of its key
 * @returns null if that is missing or incomplete: another program, or another version, may have written it
 */
export function readClientInfo(client: string, about: string | null): ClientInfo | null {
  const { label, host, pid, version, startedAt } = parsed(about)
  const isComplete =
    typeof label === 'string' &&
    typeof host === 'string' &&
    typeof version === 'string' &&
    Number.isSafeInteger(pid) &&
    Number.isFinite(startedAt)
  if (!isComplete) return null
  const [shortLabel, shortHost] = [label, host].map((text) => cutTo(text, LONGEST)) as [
    string,
    string,
  ]
  return {
    client,
    label: shortLabel,
    host: shortHost,
    pid: pid as number,
    version: cutTo(version, LONGEST),
    startedAt: startedAt as number,
  }
}

function parsed(json: string | null): Partial<Record<keyof ClientInfo, unknown>> {
  try {
    return Object(JSON.parse(json ?? ''))
  } catch {
    return {}
  }
}
