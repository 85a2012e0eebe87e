import type {
  Begun,
  Finished,
  JobFacts,
  JobOutcome,
  JobServer,
  JobStart,
  StoredRun,
} from '../job-server.ts'
import { timeUs } from './moments.ts'
import { changeRecord, type OpenRecord, type RecordPart } from './open-record.ts'
import type { RecordKind } from './record-kind.ts'
import { heldBy, lockOf } from './stored-lock.ts'

/** No copy of a request to begin is later than this, in milliseconds. */
const FORGOTTEN_MS = 600_000

/** The record of one job. The functions below do the same as the scripts in `lua/job/`. */
interface JobState {
  run: StoredRun | null
  /** The last runs that have ended, newest first. */
  ended: StoredRun[]
  /** When the record expires, in ms of the server's time. */
  endsAt: number
}

const PART: RecordPart<JobState> = {
  name: 'job',
  newState: () => ({ run: null, ended: [], endsAt: 0 }),
  expire(job, nowMs) {
    if (job.endsAt < nowMs) Object.assign(job, { run: null, ended: [] })
  },
  untilMs: ({ endsAt }) => endsAt,
}

function keepJob(record: OpenRecord, keepMs: number): void {
  const job = record.part(PART)
  if (job.run !== null || job.ended.length > 0) job.endsAt = record.nowMs + keepMs
}

/** Begins a run of a job, if no earlier run serves the call. */
function startRun(record: OpenRecord, start: JobStart): Begun {
  const { owner, token, by, atLeastMs, everyMs, tick, repeats, keepMs } = start
  if (heldBy(lockOf(record), owner) === null) return { kind: 'lost' }
  keepJob(record, keepMs)
  const job = record.part(PART)
  const nowUs = timeUs(record.nowMs)
  const { run: last } = job
  if (last?.token === token && last.state === 'running') {
    return { kind: 'begun', startedUs: last.startedUs, missed: last.missed, crashed: null }
  }
  // A request with the token of a run that has ended is a late copy.
  if (last !== null && last.token >= token) return { kind: 'lost' }
  const isNews = last?.state === 'running'
  const ended = isNews ? endRun(record, { ...last, state: 'crashed' }, start) : last
  const isRepeated = ended?.state === 'crashed' && repeats
  if (ended !== null && isServed(ended, start, isRepeated, nowUs)) {
    return { kind: 'served', isNews, run: ended }
  }
  const intervals = everyMs > 0 && ended !== null ? (nowUs - ended.startedUs) / 1_000 / everyMs : 0
  const missed = Math.max(0, Math.floor(intervals + 0.5) - 1)
  const ownUntilUs = nowUs + atLeastMs * 1_000
  const servedTick = tick === '' ? (isRepeated ? ended.tick : undefined) : tick
  job.run = {
    token,
    owner,
    by,
    state: 'running',
    startedUs: nowUs,
    untilUs: isRepeated && nowUs < ended.untilUs ? ended.untilUs : ownUntilUs,
    missed,
    ...(servedTick !== undefined && { tick: servedTick }),
    ...(everyMs > 0 && { everyMs }),
  }
  keepJob(record, keepMs)
  return { kind: 'begun', startedUs: nowUs, missed, crashed: isNews ? ended : null }
}

function isServed(
  { state, untilUs, endedUs = 0, tick: lastTick }: StoredRun,
  { tick, waitedMs }: JobStart,
  isRepeated: boolean,
  nowUs: number,
): boolean {
  if (tick !== '' && lastTick !== undefined) {
    return tick < lastTick || (tick === lastTick && !isRepeated)
  }
  if (isRepeated) return false
  const askedUs = nowUs - waitedMs() * 1_000
  return askedUs < untilUs || (state !== 'crashed' && askedUs < endedUs)
}

/** Ends the last run, and adds it to the list. */
function endRun(
  record: OpenRecord,
  run: StoredRun,
  { keepMs, mostRuns }: { readonly keepMs: number; readonly mostRuns: number },
): StoredRun {
  const job = record.part(PART)
  const ended = { ...run, endedUs: timeUs(record.nowMs) }
  job.run = ended
  job.ended = [ended, ...job.ended].slice(0, mostRuns)
  keepJob(record, keepMs)
  return ended
}

/** Stores how a run ended. */
function finishRun(record: OpenRecord, outcome: JobOutcome): Finished {
  const { token, state, result, error, forgets } = outcome
  const job = record.part(PART)
  if (job.run?.token !== token) return { kind: 'replaced' }
  const before = job.run
  let { endedUs = 0 } = before
  if (before.state === 'running' || before.state === 'crashed') {
    // If another call has taken the run for crashed, the list has its entry already.
    if (before.state === 'crashed') job.ended.shift()
    const run = { ...before, state, ...(result && { result }), ...(error && { error }) }
    endedUs = timeUs(record.nowMs)
    endRun(record, run, outcome)
  }
  if (forgets) {
    // The token stays for a while, so that a late copy of the request to begin changes nothing.
    job.run = { ...(job.run as StoredRun), untilUs: 0, endedUs: 0 }
    job.endsAt = record.nowMs + Math.min(outcome.keepMs, FORGOTTEN_MS)
  }
  const durationMs = Math.max(0, Math.floor((endedUs - before.startedUs) / 1_000))
  return { kind: 'stored', durationMs }
}

function inspect(record: OpenRecord, most: number): JobFacts {
  const { run, ended } = record.part(PART)
  const isHeld = run !== null && heldBy(lockOf(record), run.owner) !== null
  return { nowUs: timeUs(record.nowMs), run, isHeld, ended: ended.slice(0, most) }
}

export const recordJob: RecordKind<JobServer> =
  ({ store }) =>
  (rawName) => {
    const change = <T>(callMs: number, verb: (record: OpenRecord) => T) =>
      changeRecord(store, rawName, callMs, verb)
    return {
      startRun: (start, callMs) => change(callMs, (record) => startRun(record, start)),
      finishRun: (outcome, callMs) => change(callMs, (record) => finishRun(record, outcome)),
      inspect: (most, callMs) => change(callMs, (record) => inspect(record, most)),
    }
  }
