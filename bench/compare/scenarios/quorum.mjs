// A quorum of several masters, with and without contention, compared with the floors on a single server.

import { startServer } from '../../support/support.mjs'
import { median, medians, show } from '../figures.mjs'
import { takeTurns } from '../turns.mjs'
import { withProcesses } from '../worker.mjs'

const SIZES = [3, 5]
/** The cost of two bare commands, and of the scripts of Holdfast, on several masters. These floors do not wait. */
const FLOORS = [
  { id: 'floor-masters', module: 'floor-masters', label: 'floor: the same on all masters' },
  {
    id: 'floor-masters-scripts',
    module: 'floor-masters-scripts',
    label: 'floor: the scripts of Holdfast',
  },
]
const CONTENDED = { processes: 4, callers: 1, holdMs: 1 }

/** Locks with different names at the same time. */
const IN_FLIGHT = 64

/** The reason why a library refuses several masters; undefined if it accepts them. */
async function refusalOf(library, urls) {
  try {
    await withProcesses(1, library, urls, async () => {})
    return undefined
  } catch (error) {
    return error.message.split('\n')[0].replace(/\.$/, '')
  }
}

/** The locks per second, and their ratio to the floor in the same process. */
function rateOf({ rates }) {
  return {
    rate: median(rates.map((pair) => pair.library)),
    ratio: median(rates.map((pair) => pair.library / pair.floor)),
  }
}

async function measure({ server, libraries, rounds, quick }) {
  const masters = await Promise.all(Array.from({ length: Math.max(...SIZES) }, startServer))
  const urls = masters.map(({ url }) => url)
  const rows = []
  const notes = []
  const flush = () => Promise.all(masters.map(({ admin }) => admin.flushall()))
  const floor = libraries.find(({ id }) => id === 'token')
  const turnsOf = (library, on) => takeTurns(on, library, { ...CONTENDED, ms: quick ? 300 : 1_000 })
  for (const library of FLOORS) for (const size of SIZES) rows.push({ library, size, parts: [] })
  for (const library of libraries.filter(({ quorum }) => quorum)) {
    const refusal = await refusalOf(library, urls)
    if (refusal === undefined) {
      const settings = { ...library.settings, ...(library.polls && { pollMs: 10 }) }
      for (const size of SIZES) rows.push({ library: { ...library, settings }, size, parts: [] })
    } else {
      notes.push(`${library.label} is left out because of its error “${refusal}”.`)
    }
  }
  for (let round = 0; round < rounds && rows.length > 0; round += 1) {
    const { handOvers: floorRate } = await turnsOf(floor, server)
    for (const { library, size, parts } of rows) {
      const some = urls.slice(0, size)
      await flush()
      const plan = {
        name: `quorum:${round}`,
        blocks: quick ? 4 : 12,
        blockMs: 40,
        warmUpMs: quick ? 200 : 1_000,
      }
      const [single, many] = await withProcesses(1, library, some, async ([process]) => {
        const run = (inFlight) =>
          process.run('scenarios/uncontended', 'compare', server.url, { ...plan, inFlight })
        return [await run(1), await run(IN_FLIGHT)]
      })
      await flush()
      const turns = FLOORS.includes(library)
        ? {}
        : await turnsOf(library, { url: some, admin: masters[0].admin })
      const { rate: manyRate, ratio: manyRatio } = rateOf(many)
      parts.push({
        ...rateOf(single),
        manyRate,
        manyRatio,
        handOvers: turns.handOvers,
        handOverRatio: turns.handOvers / floorRate,
        waitP99: turns.waitP99,
      })
    }
  }
  await Promise.all(masters.map((master) => master.stop()))
  if (rows.length === 0) return { skipped: notes.join(' ') }
  const figures = rows.map(({ library, size, parts }) => ({
    label: library.label,
    size,
    ...medians(parts),
  }))
  return {
    notes,
    tables: [
      {
        columns: [
          'masters',
          'library',
          'per second',
          'of floor',
          `${IN_FLIGHT} in flight: per second`,
          'of floor',
          'contended: hand-offs/s',
          'of floor',
          'wait p99 ms',
        ],
        rows: figures.map((row) => [
          String(row.size),
          row.label,
          show(row.rate, 0),
          show(row.ratio),
          show(row.manyRate, 0),
          show(row.manyRatio),
          show(row.handOvers, 0),
          show(row.handOverRatio, 3),
          show(row.waitP99, 0),
        ]),
      },
    ],
    ratios: figures
      .filter(({ label }) => FLOORS.every((one) => one.label !== label))
      .flatMap(({ label, size, ratio, manyRatio }) => [
        { label: `${label}, ${size} masters`, figure: 'rate', ratio },
        {
          label: `${label}, ${size} masters`,
          figure: `rate, ${IN_FLIGHT} in flight`,
          ratio: manyRatio,
        },
      ]),
  }
}

export const scenarios = [
  {
    id: 'i',
    title: 'A quorum of several masters',
    about:
      'All masters run on this machine. The floors use one server: two bare commands, and the token. Other rows show two bare commands, and the scripts of Holdfast without its client, at each master. Pollers send a request every 10 ms.',
    measure,
  },
]
