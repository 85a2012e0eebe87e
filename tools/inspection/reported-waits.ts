/**
 * Reads the waits that a client reports.
 *
 * @returns the name of each lock that the client waits for, and when the wait began, in milliseconds
 * of the client's clock
 */
export function waitsIn(text: string | null): (readonly [string, number])[] {
  return Object.entries(objectIn(text)).flatMap(([key, since]) =>
    typeof since === 'number' ? [[key, since] as const] : [],
  )
}

function objectIn(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
