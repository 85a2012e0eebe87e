import { catalogue, dashboard, metricsIn, panels } from './ops.ts'

/** The variable in the form of Grafana. */
const chosenSource = ['$', '{datasource}'].join('')
const queries = () => panels().flatMap(({ targets = [] }) => targets)

test('panels have a title, a description, a unit and a query, and their own id', () => {
  expect(panels().length).toBeGreaterThan(10)
  for (const { title, description, fieldConfig, targets } of panels()) {
    expect({ title, description }).toEqual({
      title: expect.stringMatching(/^[A-Z]/),
      description: expect.stringMatching(/\.$/),
    })
    expect(['s', 'ops', 'short']).toContain(fieldConfig?.defaults.unit)
    expect(targets?.length).toBeGreaterThan(0)
    expect(new Set(targets?.map(({ refId }) => refId)).size).toBe(targets?.length)
  }
  const ids = dashboard().panels.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
})

test('each query uses metrics of Holdfast, in the chosen source, jobs and processes', () => {
  const known = catalogue()
  for (const { expr, datasource, legendFormat } of queries()) {
    expect(known).toEqual(expect.arrayContaining(metricsIn(expr)))
    expect(datasource.uid).toBe(chosenSource)
    const selectors = expr.match(/\bholdfast_\w+\{[^}]*\}/g) ?? []
    expect(selectors.length).toBe(metricsIn(expr).length)
    for (const one of selectors) {
      expect(one).toContain('job=~"$job"')
      expect(one).toContain('instance=~"$instance"')
    }
    expect(legendFormat).not.toBe('')
  }
})

test('each query of a counter uses rate or increase, over an interval that fits the graph', () => {
  for (const { expr } of queries()) {
    for (const [, name = ''] of expr.matchAll(/\b(holdfast_\w+)\{/g)) {
      const counts = /_(total|bucket|count|sum)$/.test(name)
      const inRate = new RegExp(
        `(rate|increase)\\(${name}\\{[^}]*\\}\\[\\$__(rate_interval|range)\\]`,
      )
      expect({ expr, counts }).toEqual({ expr, counts: inRate.test(expr) })
    }
  }
})

test('every metric is in a panel', () => {
  const shown = new Set(queries().flatMap(({ expr }) => metricsIn(expr)))
  expect(catalogue().filter((name) => !shown.has(name))).toEqual([])
})

test('sources, jobs and processes can be chosen, and their lists are refreshed with the time', () => {
  const { list } = dashboard().templating
  expect(list.map(({ name, type }) => [name, type])).toEqual([
    ['datasource', 'datasource'],
    ['job', 'query'],
    ['instance', 'query'],
  ])
  for (const { definition, refresh, allValue, datasource } of list.slice(1)) {
    expect(metricsIn(definition ?? '')).toEqual(['holdfast_losses_total'])
    expect({ refresh, allValue, uid: datasource?.uid }).toEqual({
      refresh: 2,
      allValue: '.+',
      uid: chosenSource,
    })
  }
})

test('panels do not overlap on a grid of 24 columns', () => {
  const taken = new Set<string>()
  for (const { gridPos, title } of dashboard().panels) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect({ title, free: !taken.has(`${x},${y}`) }).toEqual({ title, free: true })
        taken.add(`${x},${y}`)
      }
    }
  }
})

test('the dashboard has a fixed id and a schema version, and is not editable', () => {
  expect(dashboard()).toMatchObject({ uid: 'holdfast', title: 'Holdfast', editable: false })
  expect(dashboard().schemaVersion).toBeGreaterThanOrEqual(36)
})
