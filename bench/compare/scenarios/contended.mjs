// Several processes with several callers each want one lock. Each holder holds for 1 ms.
import { medians, show } from '../figures.mjs'
import { withShortDelays } from '../libraries/index.mjs'
import { takeTurns } from '../turns.mjs'

const PROCESSES = 4
const CALLERS = 4
const HOLD_MS = 1
const SIZES = [1, 10, 50]

/** Measures each library once in each round. Returns the medians of the rounds. */
async function inRounds({ server, rounds }, libraries, plan) {
  const measured = libraries.map((library) => ({ library, parts: [] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { library, parts } of measured) {
      if (round > 0 && library.slow) continue
      parts.push(await takeTurns(server, library, { holdMs: HOLD_MS, ...plan }))
    }
  }
  return measured.map(({ library, parts }) => ({
    ...medians(parts),
    library,
    label: library.label,
  }))
}

const rateOfFloor = (rows) => rows.find(({ library }) => library.id === 'token').handOvers

async function measureAll(context) {
  const libraries = withShortDelays(
    context.libraries.filter(({ waits, drains }) => waits || drains),
  )
  const ms = context.quick ? 300 : 1_000
  const rows = await inRounds(context, libraries, { processes: PROCESSES, callers: CALLERS, ms })
  const floor = rateOfFloor(rows)
  return {
    tables: [
      {
        columns: [
          'library',
          'hand-offs/s',
          'of floor',
          'acquisitions/s',
          'wait p99 ms',
          'Jain',
          'starved',
          'scripts each',
          'commands each',
        ],
        rows: rows.map((row) => [
          row.label,
          show(row.handOvers, 0),
          show(row.handOvers / floor, 3),
          show(row.acquisitions, 0),
          show(row.waitP99, 0),
          show(row.jain),
          show(row.starved, 0),
          show(row.scripts, 1),
          show(row.commands, 1),
        ]),
      },
    ],
    notes: [
      'A caller that never got the lock has no wait in the p99. So the p99 is too low if callers starved.',
    ],
    plots: [
      {
        name: 'e',
        title: `${PROCESSES} processes × ${CALLERS} callers: hand-offs per second`,
        digits: 0,
        bars: rows.map(({ label, handOvers, library }) => ({
          label,
          value: handOvers,
          isFloor: library.floor,
        })),
      },
    ],
    ratios: rows.map(({ label, handOvers }) => ({
      label,
      figure: 'hand-offs',
      ratio: handOvers / floor,
    })),
  }
}

async function measureSizes(context) {
  const libraries = context.libraries.filter(({ id, fair }) => fair || id === 'token')
  const rows = []
  const sizes = context.quick ? SIZES.slice(0, 2) : SIZES
  for (const callers of sizes) {
    const plan = { processes: PROCESSES, callers, ms: context.quick ? 300 : 1_500 }
    const some = await inRounds(context, libraries, plan)
    const floor = rateOfFloor(some)
    for (const row of some) rows.push({ ...row, waiters: PROCESSES * callers, floor })
  }
  return {
    tables: [
      {
        columns: [
          'waiters',
          'library',
          'hand-offs/s',
          'of floor',
          'scripts each',
          'commands each',
          'server µs each',
        ],
        rows: rows.map((row) => [
          String(row.waiters),
          row.label,
          show(row.handOvers, 0),
          show(row.handOvers / row.floor, 3),
          show(row.scripts),
          show(row.commands, 1),
          show(row.microseconds, 0),
        ]),
      },
    ],
    ratios: rows.map(({ label, waiters, handOvers, floor }) => ({
      label: `${label}, ${waiters} waiters`,
      figure: 'hand-offs',
      ratio: handOvers / floor,
    })),
  }
}

async function measureServerWork(context) {
  const libraries = context.libraries.filter(
    ({ id, module }) => id === 'token' || module === 'holdfast',
  )
  const rows = []
  for (const waiting of context.quick ? [2, 4] : [2, 10, 40]) {
    // One process holds the lock.
    const plan = { processes: waiting + 1, callers: 1, ms: context.quick ? 300 : 1_500 }
    const some = await inRounds({ ...context, rounds: 1 }, libraries, plan)
    rows.push(...some.map((row) => ({ ...row, waiting })))
  }
  return {
    tables: [
      {
        columns: [
          'waiting processes',
          'library',
          'hand-offs/s',
          'scripts each',
          'commands each',
          'µs of commands each',
          'µs of server CPU each',
        ],
        rows: rows.map((row) => [
          String(row.waiting),
          row.label,
          show(row.handOvers, 0),
          show(row.scripts),
          show(row.commands, 1),
          show(row.microseconds, 0),
          show(row.cpuMicroseconds, 0),
        ]),
      },
    ],
  }
}

export const scenarios = [
  {
    id: 'e',
    title: `${PROCESSES} processes × ${CALLERS} callers on one lock`,
    about: `Each caller holds the lock for ${HOLD_MS} ms, releases it and requests it again at once. A hand-off is an acquisition by another caller than the last holder.`,
    measure: measureAll,
  },
  {
    id: 'e-sizes',
    title: 'The fair lock with more and more waiters',
    about: `The same with ${SIZES.join(', ')} callers in each of ${PROCESSES} processes.`,
    measure: measureSizes,
  },
  {
    id: 'g',
    title: 'Work of the server for a hand-off',
    about:
      'Processes with one caller each. The count of commands includes the commands inside scripts. The time of a script includes the time of its commands.',
    measure: measureServerWork,
  },
]
