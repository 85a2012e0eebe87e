import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, startChild, startProgram } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/ports.ts'
import { sharedServer } from '../support/redis-server.ts'
import { panels, RULES, rules } from './ops.ts'
import { describeWith, promtool } from './programs.ts'

const server = sharedServer()

interface Series {
  readonly metric: Record<string, string>
  readonly value: readonly [time: number, value: string]
}

describeWith('prometheus', 'promtool')('a Prometheus that reads a service with locks', () => {
  let dir: string
  let service: Child
  let page: string
  let api: string

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'holdfast-prometheus-'))
    const [ours, theirs] = [await freePort(), await freePort()]
    page = `http://127.0.0.1:${ours}/metrics`
    api = `http://127.0.0.1:${theirs}/api/v1`
    service = startChild('test/metrics/fixtures/service.mjs', {
      args: [String(ours)],
      env: { REDIS_URL: server.url },
    })
    await service.next((message) => message === 'listens')
    const config = {
      global: { scrape_interval: '500ms', evaluation_interval: '500ms' },
      rule_files: [RULES],
      scrape_configs: [{ job_name: 'shop', static_configs: [{ targets: [`127.0.0.1:${ours}`] }] }],
    }
    // YAML includes JSON.
    writeFileSync(join(dir, 'prometheus.yml'), JSON.stringify(config))
    startProgram('prometheus', {
      args: [
        `--config.file=${dir}/prometheus.yml`,
        `--storage.tsdb.path=${dir}/data`,
        `--web.listen-address=127.0.0.1:${theirs}`,
      ],
    })
    await hasData('holdfast_losses_total')
    for (const deed of ['loss', 'stall', 'another name', 'outage', 'recovery']) await tells(deed)
    await hasData(`${outages} > 0`)
    await tells('close')
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  const outages = 'increase(holdfast_acquire_duration_seconds_count{outcome="outage"}[1m])'

  async function tells(deed: string): Promise<void> {
    service.send({ do: deed })
    await service.next((message) => message === `did ${deed}`)
  }

  async function ask<T>(path: string): Promise<T> {
    const response = await fetch(`${api}/${path}`)
    const answer = (await response.json()) as { status: string; error?: string; data: T }
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`)
    return answer.data
  }

  async function query(expr: string): Promise<readonly Series[]> {
    const { result } = await ask<{ result: readonly Series[] }>(
      `query?query=${encodeURIComponent(expr)}`,
    )
    return result.filter(({ value }) => value[1] !== 'NaN')
  }

  async function hasData(expr: string): Promise<void> {
    await eventually(async () => (await query(expr)).length > 0, { everyMs: 100, message: expr })
  }

  /** Replaces the variables like Grafana. */
  const filled = (expr: string) =>
    expr
      .replaceAll('$__rate_interval', '5m')
      .replaceAll('$__range', '5m')
      .replaceAll(/\$(job|instance)\b/g, '.+')

  const targets = panels().flatMap(({ title, targets = [] }) =>
    targets.map(({ refId, expr }) => ({ query: `${title}, ${refId}`, expr })),
  )

  test.each(targets)('a query of the panel $query returns data', async ({ expr }) => {
    await hasData(filled(expr))
  })

  const compared = rules().filter(({ alert }) => alert !== 'HoldfastAbsent')
  test.each(compared)('the expression of the rule $alert returns data', async ({ expr }) => {
    const value = expr.replace(/ > [\d.]+$/, '')
    expect(value).not.toBe(expr)
    await hasData(value)
  })

  test('Prometheus has alerts for the faults, and no other alerts', async () => {
    const expected = [
      'HoldfastLeaseLost',
      'HoldfastNamesOverflow',
      'HoldfastOutageSeen',
      'HoldfastStallsCostLeases',
    ]
    await eventually(async () => {
      const { alerts } = await ask<{ alerts: readonly { labels: Record<string, string> }[] }>(
        'alerts',
      )
      const names = new Set(alerts.map(({ labels }) => labels.alertname))
      expect([...names].sort()).toEqual(expected)
      return true
    })
  })

  test('promtool finds no fault in the page of metrics', async () => {
    const text = await (await fetch(page)).text()
    expect(text).toContain('holdfast_lock_held{')
    expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, said: '' })
  })
})
