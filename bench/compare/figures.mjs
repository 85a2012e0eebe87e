// Computes the published numbers from the measurements.
import { callsOf, quantile } from '../support/support.mjs'

export const sum = (values) => values.reduce((total, one) => total + one, 0)
export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1
    ? sorted[Math.floor(middle)]
    : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Jain's index of fairness: 1 for equal shares, 1/n if one of n callers has everything. */
export const jain = (counts) =>
  sum(counts) ** 2 / (counts.length * sum(counts.map((one) => one ** 2))) || 0

/** The p50, the p99 and the number of the values. */
export const spreadOf = (values) => ({
  count: values.length,
  p50: quantile(values, 0.5),
  p99: quantile(values, 0.99),
})

/** Medians of objects of numbers, for each field. The median of a field ignores values that are not numbers. */
export function medians(rounds) {
  const fields = Object.keys(rounds[0] ?? {})
  const valuesOf = (field) => rounds.map((round) => round[field]).filter(Number.isFinite)
  return Object.fromEntries(fields.map((field) => [field, median(valuesOf(field))]))
}

/** Formats a number for a table. */
export function show(value, digits = 2) {
  if (!Number.isFinite(value)) return '–'
  return value.toLocaleString('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

/** The counts of the server since {@link resetCounts}. */
export async function countsOf(admin) {
  const calls = await callsOf(admin)
  // The measurement itself sends these commands.
  for (const own of ['config|resetstat', 'info']) delete calls[own]
  const stats = await admin.info('commandstats')
  const usOf = (name) => Number(new RegExp(`cmdstat_${name}:.*?usec=(\\d+)`).exec(stats)?.[1] ?? 0)
  const outermost = ['evalsha', 'eval', 'blpop', 'lpush', 'subscribe', 'unsubscribe']
  return {
    commands: sum(Object.values(calls)),
    scripts: (calls.evalsha ?? 0) + (calls.eval ?? 0),
    /** The time of commands that clients send, not of commands inside scripts. So nothing counts twice. */
    microseconds: sum(outermost.map(usOf)),
    cpuMs: await serverCpuMs(admin),
  }
}

export const resetCounts = (admin) => admin.config('RESETSTAT')

/** CPU time of the server since its start. */
export async function serverCpuMs(admin) {
  const info = await admin.info('cpu')
  const secondsOf = (name) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)[1])
  return (secondsOf('used_cpu_user') + secondsOf('used_cpu_sys')) * 1_000
}
