import { infoOf } from '../../../../src/locks/job/job-info.ts'
import type { StoredRun } from '../../../../src/servers/job-server.ts'
import { JOB_NAMES, jobKeys } from '../../../../src/servers/redis/key-names/job.ts'
import { runOf } from '../../../../src/servers/stored-run.ts'
import { viewOf } from '../../../kinds/all.ts'
import { type Answers, pairs, type Requests } from '../answers.ts'
import { concludeHash, forceLock } from './hashes.ts'
import type { KeyKind } from './kind.ts'

/** The tools read at most this many ended runs of a job. A client stores at most as many. */
const MOST_RUNS = 100

const STATES: readonly unknown[] = ['running', 'done', 'failed', 'crashed']

/** Jobs. A job has the keys of a plain lock, a record of its last run, and a list of ended runs. */
export const job: KeyKind = {
  kind: 'job',
  named: [JOB_NAMES.job],
  expiring: [JOB_NAMES.job, JOB_NAMES.runs, JOB_NAMES.once],
  requests({ key, type, inFull }): Requests {
    if (viewOf('job').isPossibleName?.(key) !== true) return {}
    if (type !== 'hash' && type !== 'none') return {}
    const { job: record, runs } = jobKeys(key)
    return {
      record: ['HGETALL', record],
      ...(inFull && { runs: ['LRANGE', runs, 0, MOST_RUNS - 1] }),
    }
  },
  moreRequests: (answers): Requests =>
    mayBeCrashed(answers) ? { recordAgain: ['HGETALL', jobKeys(answers.found.key).job] } : {},
  conclude(answers) {
    const first = recordIn(answers)
    const held = concludeHash(answers, 'lock') ?? (answers.found.type === 'none' ? {} : null)
    if (first === null || held === null) return null
    const run = mayBeCrashed(answers) ? runIn(answers.bytes('recordAgain').map(String)) : first
    if (run === null) return null
    // A newer run has begun after the tools had read the lock.
    const isNewer = run.token !== first.token
    const isHeld = isNewer || holds(answers, run)
    const nowUs = answers.found.nowMs * 1_000
    return { ...held, job: infoOf({ nowUs, run, isHeld, ended: endedIn(answers) }) }
  },
  force: forceLock,
  rights: ({ lock, own }) => ({
    kind: 'job',
    commands: [
      ['HEXISTS', lock, 'f'],
      ['LPOP', lock],
      ['LPUSH', lock, 'm'],
      ['LRANGE', lock, '0', '-1'],
      ['LTRIM', lock, '0', '-1'],
    ],
    patterns: own(JOB_NAMES.job, JOB_NAMES.runs, JOB_NAMES.once),
  }),
}

/**
 * True if a run is stored as running, but its owner did not hold the lock. The run may also have
 * ended between the two answers. So the tools read the record again.
 */
function mayBeCrashed(answers: Answers): boolean {
  const run = recordIn(answers)
  return run?.state === 'running' && !holds(answers, run)
}

function holds(answers: Answers, { owner }: StoredRun): boolean {
  const { holders = [] } = concludeHash(answers, 'lock') ?? {}
  return holders.some((one) => one.owner === owner)
}

/** Returns null without a record, and if the login may not read records. */
function recordIn(answers: Answers): StoredRun | null {
  return answers.isRefused('record') ? null : runIn(answers.list('record'))
}

function endedIn(answers: Answers): StoredRun[] {
  if (answers.isRefused('runs')) return []
  return answers.list('runs').flatMap((json) => runIn(parsed(json)) ?? [])
}

/** Reads one run. Returns null if the fields do not belong to a run. */
function runIn(fields: unknown): StoredRun | null {
  if (!Array.isArray(fields)) return null
  const run = runOf(pairs(fields))
  if (run === null || !STATES.includes(run.state)) return null
  const { token, startedUs, owner, by, result } = run
  const isWhole = Number.isFinite(token) && Number.isFinite(startedUs)
  if (!isWhole || owner === undefined || by === undefined) return null
  return result === undefined || parsed(result) !== undefined ? run : null
}

/** Returns undefined if the text is not JSON. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
