// Decides if something grew. Compares the median of the first quarter of a run with the median of the last quarter.
// The start of the run, when caches fill and V8 compiles, does not count.

/** This share of the run is left out at its start. */
const WARM_UP = 0.1
const MB = 1024 * 1024

/** The measures: how each is read from a sample, and how much growth is allowed. */
const SERIES = [
  ...ofServices('heap', 'MB', ({ heapUsed }) => heapUsed / MB, { share: 0.1, more: 1 }),
  ...ofServices('resident memory', 'MB', ({ rss }) => rss / MB, { share: 0.2, more: 10 }),
  ...ofServices('handles', '', ({ handles }) => handles, { share: 0, more: 3 }),
  ...ofServices('timers', '', ({ timers }) => timers, { share: 0.1, more: 5 }),
  ...ofServices('file descriptors', '', ({ descriptors }) => descriptors, { share: 0, more: 3 }),
  ofServer('keys', '', ({ keys }) => keys, { share: 0.2, more: 100 }),
  ofServer('memory of the server', 'MB', ({ memory }) => memory / MB, { share: 0.1, more: 1 }),
  ofServer('connections', '', ({ connections }) => connections, { share: 0, more: 3 }),
  ofServer('channels', '', ({ channels }) => channels, { share: 0, more: 5 }),
  // The comparison with a round trip of the same moment removes the effect of a busy machine.
  {
    name: 'lock and release, in round trips',
    unit: '',
    read: ({ services }) => [
      median(services.flatMap(({ pairs }) => pairs)) /
        median(services.flatMap(({ pings }) => pings)),
    ],
    share: 0.25,
    more: 0.3,
  },
]

function ofServices(name, unit, read, bound) {
  return [{ name, unit, read: ({ services }) => services.map(read), ...bound }]
}

function ofServer(name, unit, read, bound) {
  return { name, unit, read: ({ server }) => [read(server)], ...bound }
}

/**
 * @returns `series`: the lines of each measure as `[seconds, value]`, its medians, and true if it grew. `isGood`:
 * true if nothing grew and nothing unexpected happened
 */
export function judge({ samples, unexpected }) {
  const begin = samples.at(-1).at * WARM_UP
  const warm = samples.filter(({ at }) => at >= begin)
  const quarter = Math.max(1, Math.floor(warm.length / 4))
  const series = SERIES.flatMap((one) => {
    const valueAt = (sample, i) => one.read(sample)[i]
    return one.read(samples[0]).map((_, i, all) => {
      const of = (some) =>
        median(some.map((sample) => valueAt(sample, i)).filter((value) => Number.isFinite(value)))
      const [first, last] = [of(warm.slice(0, quarter)), of(warm.slice(-quarter))]
      return {
        name: all.length > 1 ? `${one.name}, service ${i + 1}` : one.name,
        measure: one.name,
        unit: one.unit,
        line: samples.map((sample) => [sample.at, valueAt(sample, i)]),
        first,
        last,
        limit: first * (1 + one.share) + one.more,
        grew: last > first * (1 + one.share) + one.more,
      }
    })
  })
  const isGood = unexpected.length === 0 && series.every(({ grew }) => !grew)
  return { series, isGood }
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Returns the value below which this share of all values is. */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
