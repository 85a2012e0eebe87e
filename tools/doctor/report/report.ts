import { EXIT } from '../../cli/command/command.ts'
import { codes } from '../checks/all.ts'
import type { Finding, Level } from '../checks/check.ts'
import { answerOf, type DeploymentFacts, type ServerFacts } from '../facts/facts.ts'
import { hostAndPort, infoOf, numberOf, replicasOf, versionOf } from '../facts/names.ts'

/**
 * The facts about one server. The report has these facts even without findings. An unknown fact is
 * null, and unknown `replicas` are 0. `why` is null if the server was reached.
 */
export interface ServerLine {
  readonly address: string
  readonly reached: boolean
  readonly why: string | null
  readonly server: string | null
  readonly version: string | null
  readonly role: string | null
  readonly replicas: number
  readonly upSeconds: number | null
  readonly medianMs: number | null
  readonly slowestMs: number | null
  readonly clockAheadMs: number | null
  readonly clockBoundMs: number | null
  readonly keysLooked: number | null
  readonly allKeys: boolean | null
}

export interface SentinelLine {
  readonly address: string
  readonly reached: boolean
  readonly why: string | null
  readonly master: string | null
}

/** The whole report, exactly as `--json` prints it. */
export interface Report {
  /** The version of this format. A later version may lack fields, or may have other fields. */
  readonly format: 1
  readonly verdict: 'ok' | 'findings' | 'incomplete'
  readonly exitCode: number
  readonly place: DeploymentFacts['deployment']
  readonly counts: Readonly<Record<Level, number>>
  readonly servers: readonly ServerLine[]
  readonly sentinels: readonly SentinelLine[]
  readonly findings: readonly (Omit<Finding, 'at'> & { readonly at: string | null })[]
  /** The codes of findings that are not in the report, because the user ignores them. */
  readonly ignored: readonly string[]
}

/**
 * @param all all findings, including findings to ignore
 * @param ignored the codes of the findings to leave out
 */
export function newReport(
  facts: DeploymentFacts,
  all: readonly Finding[],
  { failOn, ignored }: { failOn: 'error' | 'warning'; ignored: ReadonlySet<string> },
): Report {
  const findings = all.filter(({ code }) => !ignored.has(code))
  const count = (level: Level) => findings.filter((one) => one.level === level).length
  const counts = { error: count('error'), warning: count('warning'), note: count('note') }
  const isBad = counts.error > 0 || (failOn === 'warning' && counts.warning > 0)
  const verdict = isIncomplete(facts, findings) ? 'incomplete' : isBad ? 'findings' : 'ok'
  return {
    format: 1,
    verdict,
    exitCode: { ok: EXIT.ok, findings: EXIT.findings, incomplete: EXIT.failed }[verdict],
    place: facts.deployment,
    counts,
    servers: facts.servers.map(serverLine),
    sentinels: facts.sentinels.map(({ address, unreachable, master }) => {
      const names = answerOf(master)
      const why = unreachable ?? null
      return { address, reached: why === null, why, master: names ? hostAndPort(names) : null }
    }),
    findings: findings.map((one) => ({ ...one, at: one.at ?? null })),
    ignored: [...codes.keys()].filter((code) =>
      all.some((one) => one.code === code && ignored.has(code)),
    ),
  }
}

/**
 * True if a server or a Sentinel could not be reached, or if there is no server. A node that the
 * cluster itself reports as down does not count, because the report has a finding about this node.
 */
function isIncomplete(
  { servers, cluster }: DeploymentFacts,
  findings: readonly Finding[],
): boolean {
  const nodes = (cluster && answerOf(cluster.nodes)) ?? []
  const down = nodes.filter(({ flags }) => flags.some((flag) => /^fail\??$/.test(flag)))
  const isDown = (address: string | undefined) => down.some((one) => one.address === address)
  const missed = findings.some(({ code, at }) => code === 'unreachable' && !isDown(at))
  return missed || servers.length === 0
}

function serverLine(server: ServerFacts): ServerLine {
  const { address, unreachable, clock, keys } = server
  const version = versionOf(server)
  const time = answerOf(clock)
  const looked = answerOf(keys)
  return {
    address,
    reached: unreachable === undefined,
    why: unreachable ?? null,
    server: version?.name ?? null,
    version: version?.text ?? null,
    role: infoOf(server, 'role') ?? null,
    replicas: replicasOf(server).length,
    upSeconds: numberOf(infoOf(server, 'uptime_in_seconds')) ?? null,
    medianMs: time?.medianMs ?? null,
    slowestMs: time?.slowestMs ?? null,
    clockAheadMs: time?.aheadMs ?? null,
    clockBoundMs: time?.boundMs ?? null,
    keysLooked: looked?.looked ?? null,
    allKeys: looked?.all ?? null,
  }
}
