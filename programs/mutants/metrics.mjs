const FILL = 'src/observe/metrics/fill.ts'
const METRICS = 'test/metrics/metrics.test.ts'

/** Metrics that are wrong, or that cost too much. */
export const metrics = [
  {
    id: 'metrics-throw-into-locks',
    mistake: 'An error of a subscriber of facts reaches the process.',
    file: 'src/observe/facts/subscribe.ts',
    search: '        // Failing telemetry must not break a lock.',
    replace: "        throw new Error('telemetry')",
    test: METRICS,
    name: 'an error of a handler does not reach the process, and the other handlers are called',
  },
  {
    id: 'metrics-names-without-end',
    mistake: 'Names beyond the cap have their own series.',
    file: 'src/observe/facts/name-groups.ts',
    search: 'if (groups.size >= most) {',
    replace: 'if (groups.size >= most * 1_000) {',
    test: METRICS,
    name: 'names beyond mostNames share the series "other", and are counted',
  },
  {
    id: 'metrics-no-loss-before',
    mistake: 'The first loss has no 0 before it, so Prometheus sees no increase.',
    file: FILL,
    search: '  for (const kind of KINDS) noLosses({ kind })\n',
    replace: '',
    test: METRICS,
    name: 'so that the first is an increase',
  },
  {
    id: 'metrics-filled-twice',
    mistake: 'A second call for one registry counts everything again, or fails.',
    file: 'src/observe/metrics/metrics.ts',
    search: '  if (first !== undefined) first[RUNNING] = running\n',
    replace: '  void first\n',
    test: METRICS,
    name: 'a registry is filled once for several calls, until the last call has stopped',
  },
  {
    id: 'metrics-half-made',
    mistake: 'A registry with a metric of the same name keeps the metrics that were already added.',
    file: 'src/observe/metrics/catalogue.ts',
    search: '    remove()\n    throw error',
    replace: '    throw error',
    test: METRICS,
    name: 'a registry with a foreign metric of the same name stays unchanged',
  },
  {
    id: 'metrics-youngest-age',
    mistake: 'The age of the oldest hold is the age of the youngest hold.',
    file: 'src/observe/facts/under-way.ts',
    search: 'else one.count += 1',
    replace: 'else Object.assign(one, { count: one.count + 1, oldest: secondsSince(since) })',
    test: METRICS,
    name: 'a hold or a wait that never ends is visible by the age of the oldest',
  },
]
