import type { StoredRun } from './job-server.ts'

type RunFields = { readonly [K in keyof StoredRun]?: string | undefined }

/** The fields of a run that are numbers. */
const NUMBERS = ['token', 'startedUs', 'endedUs', 'untilUs', 'missed', 'tick', 'everyMs'] as const

/**
 * Returns how many ticks have passed since a run began, without another run.
 *
 * @param everyMs the interval of the schedule, in milliseconds; 0 if unknown
 */
export function missedTicks(startedUs: number, nowUs: number, everyMs: number): number {
  if (everyMs === 0) return 0
  const intervals = (nowUs - startedUs) / 1_000 / everyMs
  return Math.max(0, Math.floor(intervals + 0.5) - 1)
}

/** Reads a run from its fields, which are texts. Returns null if there are no fields. */
export function runOf(fields: readonly (readonly [string, string])[]): StoredRun | null {
  if (fields.length === 0) return null
  const run: Record<string, string | number> = Object.fromEntries(fields)
  for (const name of NUMBERS) {
    const text = (run as RunFields)[name]
    if (text !== undefined) run[name] = Number(text)
  }
  return run as unknown as StoredRun
}
