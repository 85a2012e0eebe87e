import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Registry } from 'prom-client'
import { collectMetrics } from '../../src/observe/metrics/metrics.ts'

const root = resolve(__dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

export const RULES = join(root, 'ops/prometheus/holdfast.rules.yml')

/** The parts of an alert that the tests read. */
export interface Rule {
  readonly alert: string
  readonly expr: string
  readonly runbook: string
}

export function rules(): Rule[] {
  const text = read('ops/prometheus/holdfast.rules.yml')
  return text
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((rule) => {
      const expr = /^ {8}expr: (?:>-\n)?([\s\S]*?)\n {8}\w/m.exec(rule)?.[1] ?? ''
      return {
        alert: /^\w+/.exec(rule)?.[0] ?? '',
        expr: expr.replace(/\s+/g, ' ').trim(),
        runbook: /runbook: (\S+)/.exec(rule)?.[1] ?? '',
      }
    })
}

export interface Target {
  readonly refId: string
  readonly expr: string
  readonly legendFormat: string
  readonly datasource: { readonly uid: string }
}

export interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly datasource?: { readonly uid: string }
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } }
  readonly targets?: readonly Target[]
}

interface Variable {
  readonly name: string
  readonly type: string
  readonly refresh: number
  readonly allValue?: string
  readonly definition?: string
  readonly datasource?: { readonly uid: string }
}

export interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly schemaVersion: number
  readonly editable: boolean
  readonly templating: { readonly list: readonly Variable[] }
  readonly panels: readonly Panel[]
}

export function dashboard(): Dashboard {
  return JSON.parse(read('ops/grafana/holdfast.json'))
}

/** Returns all panels except rows. */
export const panels = () => dashboard().panels.filter(({ type }) => type !== 'row')

/** The names of all metrics that `holdfast/metrics` has. */
export function catalogue(): string[] {
  const register = new Registry()
  const metrics = collectMetrics({ register })
  const all = register.getMetricsAsArray() as unknown as { name: string }[]
  metrics.stop()
  return all.map(({ name }) => name)
}

/** Returns the metrics in a query, without the suffixes of histograms. */
export function metricsIn(expr: string): string[] {
  const names = expr.match(/\bholdfast_\w+/g) ?? []
  return names.map((name) => name.replace(/_(bucket|count|sum)$/, ''))
}
