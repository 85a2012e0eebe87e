import { VERSION } from '../kit/version.ts'
import { warn } from '../kit/warning.ts'

/**
 * The wire format of a client: the version of the keys and messages that Redisson does not have.
 */
export interface WireFormat {
  /**
   * The version of the format. The version rises if clients of the previous version could misread
   * clients of the new version.
   */
  readonly version: number
  /** The oldest version whose clients work together with this client. */
  readonly oldest: number
}

/**
 * The wire format of this version of Holdfast. The page docs/reference/keys.md#version explains
 * when it changes.
 */
export const WIRE_FORMAT: WireFormat = { version: 1, oldest: 1 }

/**
 * Reads the wire format from the report of a client.
 *
 * @param about the JSON that the client reports about itself
 * @returns null if the client reported no valid wire format. Clients of version 1 work together
 * with such a client
 */
export function readWireFormat(about: string | null): WireFormat | null {
  try {
    const { version, oldest } = Object(Object(JSON.parse(about ?? '')).wire)
    return isVersion(version) && isVersion(oldest) ? { version, oldest } : null
  } catch {
    return null
  }
}

function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

/**
 * Explains why two clients with these wire formats do not work together fully, and what to do.
 * Returns undefined if the clients work together fully.
 */
export function wireConflict(
  label: string,
  other: WireFormat,
  own: WireFormat = WIRE_FORMAT,
): string | undefined {
  const isNewer = other.oldest > own.version
  if (!isNewer && other.version >= own.oldest) return undefined
  const [what, fix] = isNewer
    ? ['newer', `Update this client, which runs Holdfast ${VERSION}.`]
    : ['older', 'Update that client.']
  return (
    `The client "${label}" has version ${other.version} of the wire format, and this client has version ${own.version}. ` +
    `Their locks still exclude each other. But the ${what} client stores queues and other keys of Holdfast differently, ` +
    `so waiters may be late or served out of order. ${fix} More: docs/reference/keys.md#version.`
  )
}

/**
 * Warns if this client and another client do not work together fully, because their wire formats
 * differ.
 *
 * @param about the JSON that the other client reports about itself
 * @returns true if the call has warned
 */
export function warnOfConflict(label: string, about: string | null): boolean {
  const other = readWireFormat(about)
  const text = other === null ? undefined : wireConflict(label, other)
  if (text !== undefined) warn('HOLDFAST_WIRE_VERSION', text)
  return text !== undefined
}
