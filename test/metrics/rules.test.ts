import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readPage } from '../repo/docs/pages.ts'
import { catalogue, metricsIn, RULES, rules } from './ops.ts'
import { describeWith, promtool } from './programs.ts'

const of = '{job="shop",instance="a:1"'

interface Case {
  /** The values that Prometheus read, once a minute. */
  readonly series: Record<string, string>
  readonly at: string
}

const buckets = (metric: string, labels: string, perMinute: Record<string, number>) =>
  Object.fromEntries(
    Object.entries(perMinute).map(([le, n]) => [
      `holdfast_${metric}_bucket${of}${labels},le="${le}"}`,
      `0+${n}x60`,
    ]),
  )
const counted = (metric: string, labels: string, values: string) => ({
  [`holdfast_${metric}${of}${labels}}`]: values,
})
const calls = (outcome: string, values: string) =>
  counted('acquire_duration_seconds_count', `,kind="lock",outcome="${outcome}"`, values)
const losses = (reason: string, values: string) =>
  counted('losses_total', `,kind="lock",reason="${reason}"`, values)
const waits = (fast: number) =>
  buckets('acquire_duration_seconds', ',kind="lock",outcome="granted",path="raced"', {
    5: fast,
    10: 100,
    '+Inf': 100,
  })
const lateness = (fast: number) =>
  buckets('renew_lateness_seconds', '', { 5: fast, 10: 100, '+Inf': 100 })
const age = (what: string, values: string) =>
  counted(`${what}_oldest_age_seconds`, ',kind="lock"', values)

/** For each alert, a case in which it fires, and a similar case in which it does not fire. */
const cases: Record<string, { fires: Case; silent: Case }> = {
  HoldfastLeaseLost: {
    fires: { series: losses('expired', '0x4 1x10'), at: '6m' },
    silent: { series: losses('forced', '0x4 1x10'), at: '6m' },
  },
  HoldfastStallsCostLeases: {
    fires: { series: counted('stall_duration_seconds_count', '', '0x4 1x10'), at: '6m' },
    silent: { series: counted('stall_duration_seconds_count', '', '3x20'), at: '6m' },
  },
  HoldfastRenewLate: {
    fires: { series: lateness(98), at: '20m' },
    silent: { series: lateness(100), at: '20m' },
  },
  HoldfastHeldTooLong: {
    fires: { series: age('hold', '3000+60x20'), at: '13m' },
    silent: { series: age('hold', '0+60x30'), at: '30m' },
  },
  HoldfastWaitersStarving: {
    fires: { series: age('wait', '0+60x20'), at: '8m' },
    silent: { series: age('wait', '0 60 120 0 60 120 0 60 120'), at: '8m' },
  },
  HoldfastContentionHigh: {
    fires: { series: waits(98), at: '30m' },
    silent: { series: waits(100), at: '30m' },
  },
  HoldfastTimeoutsHigh: {
    fires: { series: { ...calls('granted', '0+4x60'), ...calls('timeout', '0+6x60') }, at: '30m' },
    silent: { series: { ...calls('granted', '0+6x60'), ...calls('timeout', '0+4x60') }, at: '30m' },
  },
  HoldfastOutageSeen: {
    fires: { series: calls('outage', '0x3 1x10'), at: '5m' },
    silent: { series: { ...calls('outage', '2x20'), ...calls('failed', '0+1x20') }, at: '5m' },
  },
  HoldfastNamesOverflow: {
    fires: { series: counted('other_names_total', '', '0x3 5x10'), at: '5m' },
    silent: { series: counted('other_names_total', '', '0x20'), at: '5m' },
  },
  HoldfastAbsent: {
    fires: { series: { 'up{job="shop"}': '1x60' }, at: '20m' },
    silent: { series: losses('gone', '0x60'), at: '20m' },
  },
}

test('each alert has a case in which it fires, and a section on the page of alerts', () => {
  const headings = readPage('docs/how-to/alert-on-locks.md').headings.map(({ anchor }) => anchor)
  expect(rules().map(({ alert }) => alert)).toEqual(Object.keys(cases))
  for (const { alert, runbook } of rules()) {
    expect(runbook).toBe(`docs/how-to/alert-on-locks.md#${alert.toLowerCase()}`)
    expect(headings).toContain(alert.toLowerCase())
  }
})

test('each metric of a rule is a metric of Holdfast', () => {
  const known = catalogue()
  for (const { expr } of rules()) {
    expect(metricsIn(expr).length).toBeGreaterThan(0)
    expect(known).toEqual(expect.arrayContaining(metricsIn(expr)))
  }
})

describeWith('promtool')('by promtool', () => {
  let dir: string
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'holdfast-rules-'))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  /** The output of promtool for the expected alerts. YAML includes JSON. */
  function testRules({ series, at }: Case, alert: string, alerts: readonly object[]): string {
    const file = join(dir, 'test.yml')
    const test = {
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: alerts }],
    }
    writeFileSync(file, JSON.stringify({ rule_files: [RULES], tests: [test] }))
    return promtool(['test', 'rules', file]).said
  }

  test('promtool accepts the rules', () => {
    expect(promtool(['check', 'rules', '--lint=all', '--lint-fatal', RULES])).toMatchObject({
      status: 0,
      said: expect.stringContaining(`${rules().length} rules found`),
    })
  })

  test.each(Object.entries(cases))('%s fires, and names the process', (alert, { fires }) => {
    const said = testRules(fires, alert, [])
    // The alerts that promtool got, with the values of their labels and texts.
    const [, got = ''] = /got:\s*\[([\s\S]*)\]/.exec(said) ?? []
    expect(got).toContain(`alertname="${alert}"`)
    expect(got).not.toMatch(/no value|error expanding/)
    if (alert !== 'HoldfastAbsent') expect(got).toMatch(/(a:1|shop)/)
  })

  test.each(Object.entries(cases))('%s does not fire in a similar case', (alert, { silent }) => {
    expect(testRules(silent, alert, [])).toContain('SUCCESS')
  })
})
