import type { Notes } from '../diagnostics.ts'
import type { ClientInfo } from '../errors.ts'
import { cutTo } from '../kit/printable.ts'

export type { ClientInfo } from '../errors.ts'

export interface OwnInfo {
  readonly info: ClientInfo
  /** The usual lease of its renewals, in milliseconds. */
  readonly leaseMs: number
  /** False if the client only reads what others report. */
  readonly tells: boolean
}

/**
 * Reports one client to others at a server, and reads what others report. No lock depends on it.
 */
export interface Presence extends Notes {
  /** The client renews leases of this length, so its entry must outlive them. */
  renews(leaseMs: number): void
  /**
   * Reports since when the client waits for which keys. The JSON maps each key to a time on the
   * client's wall clock, in ms.
   */
  reportWaits(waits: string): void
  /** The identity of a client; null if unknown. Rejects only with a `CallFailure`. */
  clientInfo(clientId: string, callMs: number): Promise<ClientInfo | null>
  /** The client is closed: deletes its entry. The servers may stay open. */
  close(): void
}

/** The longest label, or host name, that is read from another client, in characters. */
const LONGEST = 255

/**
 * Reads the identity of a client from its JSON.
 *
 * @param about the field `about` of its key
 * @returns null if it is missing or incomplete: another program or version may have written it
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
