import { counted, duration, escaped, wrapped } from '../../cli/text/words.ts'
import type { Level } from '../checks/check.ts'
import type { Report, SentinelLine, ServerLine } from './report.ts'

interface TextStyle {
  readonly columns: number
  readonly colours: boolean
}

type ReportFinding = Report['findings'][number]

const COLOURS = { error: 31, warning: 33, note: 36 } as const
const BOLD = 1
const WIDEST = 100

/** Formats the report for users: the verdict, then the servers, then each finding with its fix. */
export function textOf(report: Report, { columns, colours }: TextStyle): string {
  const width = Math.max(40, Math.min(columns, WIDEST))
  const paint = (level: Level, text: string) => (colours ? styled(COLOURS[level], text) : text)
  const strong = (text: string) => (colours ? styled(BOLD, text) : text)
  const looked = [...report.sentinels.map(sentinelText), ...report.servers.map(serverText)]
  const blocks = grouped(report.findings).map((group) => blockOf(group, width, paint))
  const ignored = report.ignored.length === 0 ? [] : [`Left out: ${report.ignored.join(', ')}.`]
  return `${[strong(verdictOf(report)), table(looked), ...blocks, ...ignored].join('\n\n')}\n`
}

const styled = (style: number, text: string): string => `\u001b[${style}m${text}\u001b[0m`

function verdictOf({ verdict, counts, servers, sentinels }: Report): string {
  const parts = (['error', 'warning', 'note'] as const)
    .filter((level) => counts[level] > 0)
    .map((level) => counted(counts[level], level))
  const summary = parts.length === 0 ? '' : ` ${parts.join(', ')}.`
  const all = [...servers, ...sentinels]
  const missed = all.filter(({ reached }) => !reached).length
  if (verdict === 'incomplete') {
    return missed === 0
      ? `No server was found.${summary}`
      : `${missed} of ${counted(all.length, 'server')} could not be checked.${summary}`
  }
  if (counts.error > 0) return `Not fit for locks.${summary}`
  if (counts.warning > 0) return `Fit for locks while nothing fails.${summary}`
  return `Fit for locks.${summary}`
}

/** Returns one line for each server. The facts form a second column after the addresses. */
function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${escaped(text)}`).join('\n')
}

function sentinelText({ address, why, master }: SentinelLine): [string, string] {
  return [address, why ?? `Sentinel, which names ${master ?? 'no master'}`]
}

function serverText(line: ServerLine): [string, string] {
  const { address, why, server, version, role, replicas, medianMs, slowestMs } = line
  if (why !== null) return [address, why]
  const kind = role === 'slave' ? 'replica' : (role ?? 'role unknown')
  const parts = [server === null ? 'version unknown' : `${server} ${version}`, kind]
  if (replicas > 0) parts.push(counted(replicas, 'replica'))
  if (line.upSeconds !== null) parts.push(`up ${duration(1_000 * line.upSeconds)}`)
  if (medianMs !== null) parts.push(`answers in ${medianMs} ms (slowest ${slowestMs})`)
  if (line.clockAheadMs !== null) {
    const ahead = Math.round(line.clockAheadMs)
    parts.push(`clock ${ahead < 0 ? '' : '+'}${ahead} ms (± ${Math.ceil(line.clockBoundMs ?? 0)})`)
  }
  if (line.keysLooked !== null) {
    parts.push(`${counted(line.keysLooked, 'key')}${line.allKeys ? '' : ' checked, of more'}`)
  }
  return [address, parts.join(', ')]
}

/**
 * Groups findings with the same code and reason. Each group is printed once, with all its servers.
 */
function grouped(findings: readonly ReportFinding[]): ReportFinding[][] {
  const groups = new Map<string, ReportFinding[]>()
  for (const finding of findings) {
    const key = `${finding.code} ${finding.why}`
    groups.set(key, [...(groups.get(key) ?? []), finding])
  }
  return [...groups.values()]
}

function blockOf(
  group: readonly ReportFinding[],
  width: number,
  paint: (level: Level, text: string) => string,
): string {
  const [{ level, code, why }] = group as [ReportFinding]
  const seen = whereSeen(group).flatMap((text) => wrapped(escaped(text), width - 8))
  const fixes = allOf(group.map(({ fix }) => fix))
  return [
    `${paint(level, level)}  ${code}`,
    ...labelled('seen', seen),
    ...labelled('why', wrapped(why, width - 8)),
    ...labelled('fix', fixes), // Not wrapped, because users paste the commands.
  ].join('\n')
}

/**
 * Returns each different observation once. The addresses of its servers come before the
 * observation.
 */
function whereSeen(group: readonly ReportFinding[]): string[] {
  const places = new Map<string, string[]>()
  for (const { at, seen } of group) {
    places.set(seen, [...(places.get(seen) ?? []), ...(at === null ? [] : [at])])
  }
  return [...places].map(([seen, at]) => (at.length === 0 ? seen : `${at.join(', ')}: ${seen}`))
}

/**
 * Joins the lines of all fixes, and drops repeated lines. The remarks at the beginning come first,
 * then the commands, then the other remarks.
 */
function allOf(fixes: readonly (readonly string[])[]): string[] {
  const isRemark = (line: string) => line.startsWith('#')
  const parts = fixes.map((fix) => {
    const first = fix.findIndex((line) => !isRemark(line))
    return first < 0
      ? [fix, [], []]
      : [
          fix.slice(0, first),
          fix.slice(first).filter((line) => !isRemark(line)),
          fix.slice(first).filter(isRemark),
        ]
  })
  return [0, 1, 2].flatMap((section) => [...new Set(parts.flatMap((part) => part[section] ?? []))])
}

function labelled(label: string, lines: readonly string[]): string[] {
  return lines.map((line, i) => `  ${(i === 0 ? label : '').padEnd(4)}  ${line}`)
}
