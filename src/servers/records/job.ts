import type {
  Begun,
  Finished,
  JobFacts,
  JobOutcome,
  JobServer,
  JobStart,
  StoredRun,
} from '../job-server.ts'
import { missedTicks } from '../stored-run.ts'
import { timeUs } from './moments.ts'
import { changeRecord, type OpenRecord, type RecordPart } from './open-record.ts'
import type { RecordKind } from './record-kind.ts'
import { heldBy, lockOf } from './stored-lock.ts'

/** The record of one job. The functions below do the same as the scripts in `lua/job/`. */
interface JobState {
  run: StoredRun | null
  /** The last runs that have ended, newest first. */
  ended: StoredRun[]
  /** The token of the call that found that the last run had crashed. */
  foundBy: number
  /** The crashed run that the last run has found. */
  earlier: StoredRun | null
  /** When the record expires, in ms of the server's time. */
  endsAt: number
}

const PART: RecordPart<JobState> = {
  name: 'job',
  newState: () => ({ run: null, ended: [], foundBy: 0, earlier: null, endsAt: 0 }),
  expire(job, nowMs) {
    if (job.endsAt < nowMs) Object.assign(job, { run: null, ended: [] })
  },
  untilMs: ({ endsAt }) => endsAt,
}

function keepJob(record: OpenRecord, keepMs: number): void {
  const job = record.part(PART)
  if (job.run === null && job.ended.length === 0) return
  // The record may have to last longer for a call with other options.
  job.endsAt = Math.max(job.endsAt, record.nowMs + keepMs)
}

/** Begins a run of a job, if no earlier run serves the call. */
function startRun(record: OpenRecord, start: JobStart): Begun {
  const { owner, token, by, atLeastMs, everyMs, tick, repeats, keepMs } = start
  if (heldBy(lockOf(record), owner) === null) return { kind: 'lost' }
  keepJob(record, keepMs)
  const job = record.part(PART)
  const nowUs = timeUs(record.nowMs)
  const { run } = job
  if (run?.token === token && run.state === 'running') {
    return { kind: 'begun', startedUs: run.startedUs, missed: run.missed, crashed: job.earlier }
  }
  if (run !== null && run.token >= token) return { kind: 'lost' }
  const last = run && notAfterNow(run, nowUs)
  const isRunning = last?.state === 'running'
  const isNews = isRunning || (last?.state === 'crashed' && job.foundBy === token)
  const ended = isRunning ? endRun(record, { ...last, state: 'crashed' }, start) : last
  if (isRunning) job.foundBy = token
  const isRepeated = ended?.state === 'crashed' && repeats
  if (ended !== null && isServed(ended, start, isRepeated, nowUs)) {
    return { kind: 'served', isNews, run: ended }
  }
  const missed = ended === null ? 0 : missedTicks(ended.startedUs, nowUs, everyMs)
  // A repeated run also serves the tick of the run that crashed. So its time counts from its call, which does not delay
  // the next tick.
  const fromUs = isRepeated ? nowUs - start.waitedMs() * 1_000 : nowUs
  const ownUntilUs = fromUs + atLeastMs * 1_000
  const ticks = [tick === '' ? undefined : tick, isRepeated ? ended.tick : undefined]
  const known = ticks.filter((each) => each !== undefined)
  job.run = {
    token,
    owner,
    by,
    state: 'running',
    startedUs: nowUs,
    untilUs: isRepeated ? Math.max(ownUntilUs, ended.untilUs) : ownUntilUs,
    missed,
    ...(known.length > 0 && { tick: Math.max(...known) }),
    ...(everyMs > 0 && { everyMs }),
  }
  job.earlier = isNews ? ended : null
  job.endsAt = record.nowMs + keepMs
  return { kind: 'begun', startedUs: nowUs, missed, crashed: job.earlier }
}

/** Returns the run with times that are not after `nowUs`, in case the clock was set back. */
function notAfterNow(run: StoredRun, nowUs: number): StoredRun {
  const { startedUs, endedUs = 0, untilUs } = run
  const aheadUs = Math.max(startedUs, endedUs) - nowUs
  if (aheadUs <= 0) return run
  const times = { startedUs: startedUs - aheadUs, untilUs: untilUs - aheadUs }
  return { ...run, ...times, ...(endedUs > 0 && { endedUs: endedUs - aheadUs }) }
}

function isServed(
  { state, untilUs, endedUs = 0, tick: lastTick }: StoredRun,
  { tick, waitedMs }: JobStart,
  isRepeated: boolean,
  nowUs: number,
): boolean {
  if (isRepeated) return false
  if (tick !== '' && lastTick !== undefined) return tick <= lastTick
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
  if (forgets && job.run !== null) {
    // The token stays, so a late copy of the request that began this run begins nothing.
    const { endedUs: _, ...forgotten } = job.run
    job.run = { ...forgotten, untilUs: 0 }
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
