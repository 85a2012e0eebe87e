import { type Column, table } from '../text/table.ts'
import type { Measured } from './measures.ts'

export interface Line {
  readonly code: string
  readonly what: string
  readonly count: number
  readonly medianMs: number
  readonly p99Ms: number
  readonly maxMs: number
}

/**
 * Compares the duration of the slowest step with the pause between two renewals of the watchdog.
 * `good`: less than a tenth of the pause. `slow`: at least a tenth, but less than the pause.
 * `too-slow`: at least the pause.
 */
export type BenchVerdict = 'good' | 'slow' | 'too-slow'

export interface BenchReport {
  readonly address: string
  readonly leaseMs: number
  readonly lines: readonly Line[]
  readonly verdict: BenchVerdict
  /** The reason for the verdict, as the report prints it. */
  readonly says: string
}

export function newReport(
  measured: readonly Measured[],
  terms: { readonly address: string; readonly leaseMs: number },
): BenchReport {
  const lines = measured.filter(({ samplesMs }) => samplesMs.length > 0).map(lineOf)
  return { ...terms, lines, ...verdictOf(lines, terms.leaseMs) }
}

function lineOf({ code, what, samplesMs }: Measured): Line {
  const sorted = [...samplesMs].sort((a, b) => a - b)
  const at = (part: number) =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0) * 1e3) /
    1e3
  return { code, what, count: sorted.length, medianMs: at(0.5), p99Ms: at(0.99), maxMs: at(1) }
}

/**
 * The watchdog renews after each third of the lease. So a step that takes a third or longer is too
 * slow for renewals.
 */
function verdictOf(lines: readonly Line[], leaseMs: number): Pick<BenchReport, 'verdict' | 'says'> {
  const slowest = Math.max(0, ...lines.map(({ maxMs }) => maxMs))
  const renewMs = Math.round(leaseMs / 3)
  const took = `The slowest step took ${ms(slowest)}; the watchdog renews a lease of ${leaseMs} ms every ${renewMs} ms`
  if (slowest < renewMs / 10)
    return { verdict: 'good', says: `${took}. Renewals have enough time.` }
  const longer = `Use a longer leaseMs, or check this Redis with npx holdfast doctor.`
  if (slowest < renewMs) {
    return {
      verdict: 'slow',
      says: `${took}. A renewal that is late has little time left. ${longer}`,
    }
  }
  return { verdict: 'too-slow', says: `${took}. Leases will be lost. ${longer}` }
}

export function textOf({ address, lines, says }: BenchReport): string {
  return `${address}\n\n${table(COLUMNS, lines, Infinity).join('\n')}\n\n${says}\n`
}

const COLUMNS: Column<Line>[] = [
  { head: '', text: ({ what }) => what },
  { head: 'times', text: ({ count }) => `${count}`, isNumber: true },
  { head: 'median', text: ({ medianMs }) => ms(medianMs), isNumber: true },
  { head: '99 %', text: ({ p99Ms }) => ms(p99Ms), isNumber: true },
  { head: 'longest', text: ({ maxMs }) => ms(maxMs), isNumber: true },
]

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`
}
