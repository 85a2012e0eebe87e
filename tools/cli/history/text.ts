import type { HistoryEntry } from '../../history/history.ts'
import { counted, duration, escaped } from '../text/words.ts'

export function lineOf(entry: HistoryEntry, keyPrefix: string): string {
  const when = new Date(entry.at).toISOString().replace('T', ' ')
  if (entry.event === 'dropped') {
    const entries = counted(entry.dropped ?? 0, 'entry', 'entries')
    return `${when}  dropped   ${entries} of one process, while Redis could not be reached\n`
  }
  const { event, owner, token, label, client } = entry
  const name = escaped(withoutPrefix(entry.name, keyPrefix))
  const id = escaped(owner ?? client)
  const who = label === '' ? id : `${escaped(label)} (${id})`
  const parts = [`${when}  ${event.padEnd(8)}  ${name}  ${who}`, ...detailsOf(entry)]
  return `${parts.join(', ')}${event === 'acquired' && token !== null ? `, token ${token}` : ''}\n`
}

function detailsOf({ kind, waitedMs, heldMs, path, reason, stalledMs }: HistoryEntry): string[] {
  const details: string[] = []
  if (kind !== null && kind !== 'lock') details.push(kind)
  if (heldMs !== null) details.push(`held for ${duration(heldMs)}`)
  if (waitedMs !== null && (path === null || path !== 'free')) {
    details.push(`waited for ${duration(waitedMs)}`)
  }
  if (path !== null) details.push(path)
  // Only the first sentence of a reason is printed, because the message of an outage also says what
  // to do.
  if (reason !== null) details.push(escaped(reason.replace(/\. .*/s, '')))
  if (stalledMs !== null) details.push(`its event loop was blocked for ${duration(stalledMs)}`)
  return details
}

/**
 * Returns a summary: the counts of acquisitions and problems, and the median and the longest
 * duration of holds and waits.
 */
export function sumOf(entries: readonly HistoryEntry[]): string {
  const values = (what: 'heldMs' | 'waitedMs', of: (entry: HistoryEntry) => boolean) =>
    entries.filter(of).flatMap((entry) => entry[what] ?? [])
  const held = spread(values('heldMs', () => true))
  const waited = spread(values('waitedMs', ({ path }) => path !== 'free'))
  const times = (event: HistoryEntry['event']) =>
    entries.filter((entry) => entry.event === event).length
  const bad = (['lost', 'forced', 'timeout', 'aborted', 'outage', 'failed'] as const)
    .map((event) => [event, times(event)] as const)
    .filter(([, count]) => count > 0)
    .map(([event, count]) => `${event} ${count.toLocaleString('en')}`)
  const lines = [
    `acquired ${times('acquired').toLocaleString('en')}${bad.length > 0 ? `, ${bad.join(', ')}` : ''}`,
    ...(held ? [`held for ${held}`] : []),
    ...(waited ? [`waited for ${waited}`] : []),
  ]
  return `\n${lines.join('\n')}\n`
}

function spread(values: readonly number[]): string | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  const [median, longest] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  if (median === undefined || longest === undefined) return undefined
  return `${duration(median)} (median), ${duration(longest)} (longest)`
}

function withoutPrefix(name: string, keyPrefix: string): string {
  return name.startsWith(keyPrefix) ? name.slice(keyPrefix.length) : name
}

/**
 * The name of the module in the text below. The text does not contain the name itself, because
 * tools would read the text as a real import.
 */
const MODULE = 'holdfast/history'

export const HOW_TO_TURN_IT_ON = `No history is recorded there. Turn it on in each service that uses locks:

  import { recordHistory } from ${JSON.stringify(MODULE)}
  const history = recordHistory({ redis: process.env.REDIS_URL })

Before the service ends, call await history.stop(). Entries appear here from then on.
`
