import type { Notes } from '../diagnostics.ts'
import type { ClientInfo } from '../errors.ts'
import { cutTo } from '../kit/printable.ts'

export type { ClientInfo } from '../errors.ts'

export interface OwnInfo {
  readonly info: ClientInfo
  /** The usual length of the leases that the client renews, in milliseconds. */
  readonly leaseMs: number
  /** False if the client only reads what others report. */
  readonly tells: boolean
}

/**
 * Reports one client to others at a server, and reads what others report. No lock depends on it.
 */
export interface Presence extends Notes {
  /** Called when the client renews leases of this length. The client's entry must last longer. */
  renews(leaseMs: number): void
  /**
   * Reports for which keys the client waits, and since when.
   *
   * @param waits JSON that maps each key to a time on the client's wall clock, in milliseconds
   */
  reportWaits(waits: string): void
  /** The identity of a client; null if unknown. Rejects only with a `CallFailure`. */
  clientInfo(clientId: string, callMs: number): Promise<ClientInfo | null>
  /** Deletes the entry of the client, which is closed. The connections may stay open. */
  close(): void
}

/** The longest label, or host name, that is read from another client, in characters. */
const LONGEST = 255

/**
 * Reads the identity of a client from its JSON.
 *
 * @param about the field `about` of the key of the client
 * @returns null if the JSON is missing or incomplete: another program or version may have written
 * it
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
