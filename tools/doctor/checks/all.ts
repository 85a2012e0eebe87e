import type { DeploymentFacts } from '../facts/facts.ts'
import type { Check, Finding, Level } from './check.ts'
import { clocks } from './clocks.ts'
import { cluster } from './cluster.ts'
import { connections } from './connections.ts'
import { deployment } from './deployment.ts'
import { keys } from './keys.ts'
import { masters } from './masters.ts'
import { memory } from './memory.ts'
import { persistence } from './persistence.ts'
import { reached } from './reached.ts'
import { replicas } from './replicas.ts'
import { replication } from './replication.ts'
import { rights } from './rights.ts'
import { roundTrips } from './round-trips.ts'
import { sentinels } from './sentinels.ts'
import { version } from './version.ts'
import { wireVersions } from './wire-versions.ts'

const checks: readonly Check[] = [
  reached,
  deployment,
  version,
  masters,
  rights,
  memory,
  persistence,
  replication,
  replicas,
  clocks,
  roundTrips,
  connections,
  keys,
  wireVersions,
  cluster,
  sentinels,
]

const LEVELS: readonly Level[] = ['error', 'warning', 'note']

export const codes: ReadonlyMap<string, Level> = new Map(
  checks.flatMap((check) => Object.entries(check.codes)),
)

/** Runs all checks on the facts. Returns the findings, the worst first. */
export function examine(facts: DeploymentFacts): Finding[] {
  const found = checks.flatMap((check) =>
    [...check.run(facts)].map((one) => ({ level: check.codes[one.code] as Level, ...one })),
  )
  return LEVELS.flatMap((level) => found.filter((one) => one.level === level))
}
