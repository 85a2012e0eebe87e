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

/**
 * Reads the locks that a client keeps without use.
 *
 * @returns the name of each lock, and since when the client keeps it, in milliseconds of the client's clock
 */
export function keptIn(text: string | null): (readonly [string, number])[] {
  return Object.entries(objectIn(text)).flatMap(([key, since]) => {
    const [at] = Array.isArray(since) ? since : []
    return typeof at === 'number' ? [[key, at] as const] : []
  })
}

function objectIn(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
