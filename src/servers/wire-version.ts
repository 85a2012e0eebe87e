import { VERSION } from '../kit/version.ts'
import { warn } from '../kit/warning.ts'

/**
 * The wire format of a client: the keys and messages that Holdfast adds to the layout of Redisson.
 */
export interface WireFormat {
  /**
   * The version. It rises when a client of the previous version could misread a client of this
   * version.
   */
  readonly version: number
  /** The oldest version whose clients can share locks with this one. */
  readonly oldest: number
}

/**
 * The wire format of this version of Holdfast. docs/reference/keys.md#version says when to change
 * it.
 */
export const WIRE_FORMAT: WireFormat = { version: 1, oldest: 1 }

/**
 * Reads the wire format that a client reports about itself as JSON, in the field `about` of its
 * key.
 *
 * @returns null if the client reported none; version 1 can share locks with it
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
 * Explains why a client with the other wire format cannot share locks with this client, and what to
 * do. Undefined if the two can share locks.
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
 * Warns about a client whose keys this client could misread.
 *
 * @param about the description that the client has reported
 * @returns true if it has warned
 */
export function warnOfConflict(label: string, about: string | null): boolean {
  const other = readWireFormat(about)
  const text = other === null ? undefined : wireConflict(label, other)
  if (text !== undefined) warn('HOLDFAST_WIRE_VERSION', text)
  return text !== undefined
}
