import type { JobInfo, RunRecord } from '../../../src/index.ts'
import { type Column, table } from '../text/table.ts'
import { counted, duration, escaped } from '../text/words.ts'

/** The most ended runs that the text shows. JSON has all of them. */
const MOST = 10
/** A longer result or error is cut to this number of characters. JSON has the whole text. */
const LONGEST = 200

/** Returns lines about the last run of a job, each with its heading and its text. */
export function lastRunLines({ last, missed }: JobInfo): string[][] {
  if (last === null) return []
  const { state, by, startedAt, tick, result, error } = last
  return [
    ['last run', `${state}, by ${escaped(by)}, begun ${startedAt.toISOString()}`],
    ['took', tookText(last)],
    ...(tick === null ? [] : [['tick', tick.toISOString()]]),
    ...(result === undefined ? [] : [['result', resultText(last)]]),
    ...(error === null ? [] : [['error', cutText(error)]]),
    ['missed', missed === 0 ? 'none' : counted(missed, 'tick')],
  ]
}

/** Returns a table of the last runs that have ended, the newest first. Empty without such runs. */
export function endedRuns({ ended }: JobInfo, width: number): string[] {
  if (ended.length === 0) return []
  const lines = table(columns, ended.slice(0, MOST), width)
  if (ended.length > MOST) lines.push(`and ${ended.length - MOST} more`)
  return lines
}

const columns: readonly Column<RunRecord>[] = [
  { head: 'BEGUN', text: ({ startedAt }) => startedAt.toISOString() },
  { head: 'STATE', text: ({ state }) => state },
  { head: 'TOOK', text: tookText, isNumber: true },
  { head: 'MISSED', text: ({ missed }) => `${missed}`, isNumber: true, spare: 2 },
  { head: 'BY', text: ({ by }) => escaped(by), least: 8, spare: 1 },
  { head: 'RESULT OR ERROR', text: resultText, least: 12, spare: 3 },
]

function tookText({ durationMs }: RunRecord): string {
  return durationMs === null ? '-' : duration(durationMs)
}

function resultText({ result, error }: RunRecord): string {
  return cutText(error ?? (result === undefined ? '-' : JSON.stringify(result)))
}

function cutText(text: string): string {
  const more = text.length - LONGEST
  if (more <= 0) return escaped(text)
  return `${escaped(text.slice(0, LONGEST))}… and ${counted(more, 'more character')}`
}
