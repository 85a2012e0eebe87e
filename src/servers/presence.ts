import type { Notes } from '../diagnostics.ts'
import { cutTo } from '../kit/printable.ts'
import type { ClientInfo } from '../why-not-acquired.ts'

export type { ClientInfo } from '../why-not-acquired.ts'

export interface OwnInfo {
  readonly info: ClientInfo
  /** The usual lease of the client, which the watchdog renews, in milliseconds. */
  readonly leaseMs: number
  /**
   * True if the client reports itself. With false, the client only reads what other clients report.
   */
  readonly tells: boolean
}

/**
 * Reports one client to other clients, and reads what other clients report. No lock depends on
 * these reports.
 */
export interface Presence extends Notes {
  /**
   * Called when the client renews leases of this length, in milliseconds. The client's report must
   * last longer than the leases.
   */
  renews(leaseMs: number): void
  /**
   * Reports for which keys the client waits, and since when.
   *
   * @param waits JSON that maps each key to a time: milliseconds since 1970 on the client's wall
   * clock
   */
  reportWaits(waits: string): void
  /**
   * Returns the identity of a client; null if the client is unknown. Rejects only with a
   * `CallFailure`.
   */
  clientInfo(clientId: string, callMs: number): Promise<ClientInfo | null>
  /** Called when the client closes. Deletes the client's report, but keeps the connection. */
  withdraw(): void
}

/** Longer labels, host names and versions of other clients are cut to this many characters. */
const LONGEST = 255

/**
 * Reads the identity of a client from JSON.
 *
 * @param about the field `about` of the client's report on the server
 * @returns null if the JSON is missing or incomplete, because another program or version may have
 * written it
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
