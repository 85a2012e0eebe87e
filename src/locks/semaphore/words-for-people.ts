import type { ClientInfo } from '../../errors.ts'

/** A longer label is cut. */
const MOST_OF_LABEL = 80

/** What could forge a line of a log, or change how it is read. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/**
 * As in "app-3 (host:4711)", or "host:4711" for a client without a label of its own.
 *
 * @param where in the place of host and process id
 */
export function printedClient(
  { label, host, pid }: ClientInfo,
  where = `${printedText(host)}:${pid}`,
): string {
  return label === `${host}:${pid}` ? where : `${printedText(label)} (${where})`
}

/** Text that another process has chosen. */
function printedText(text: string): string {
  const escaped = text.replace(UNPRINTABLE, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`
  })
  return escaped.length > MOST_OF_LABEL ? `${escaped.slice(0, MOST_OF_LABEL)}…` : escaped
}

export function printedMs(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`
}
