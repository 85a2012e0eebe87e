// Negative controls: each of them must be found out, or the harness sees nothing.
import { ensurePeers } from '../../../bench/compare/libraries/peer.mjs'
import { countOf } from '../report.mjs'
import { runStage } from '../stage.mjs'
import { LIBRARIES, prepareControl } from './libraries.mjs'

/** Until it is convicted, and at most this. */
const SECONDS = 30
/** Ours, with something left out: `--break`, `--kinds`, and which checkers may convict it beside that of overlaps. */
const BROKEN = [
  { name: 'Holdfast without exclusion', broken: 'exclusion', kinds: ['lock'] },
  { name: 'Holdfast without validity', broken: 'validity', kinds: ['lock'] },
  { name: 'Holdfast with two leaders', broken: 'exclusion', kinds: ['election'] },
  { name: 'Holdfast with writers beside readers', broken: 'writers', kinds: ['read-write'] },
  { name: 'Holdfast with permits counted twice', broken: 'permits', kinds: ['permits'] },
  { name: 'Holdfast with plain permits counted twice', broken: 'permits', kinds: ['semaphore'] },
  // Overlaps tell nothing of a latch or a barrier, so these run for a time.
  {
    name: 'Holdfast with a latch that opens early',
    broken: 'latch',
    kinds: ['latch'],
    seconds: 3,
    mostSeconds: 3,
  },
  {
    name: 'Holdfast with a barrier that counts parties twice',
    broken: 'barrier',
    kinds: ['barrier'],
    seconds: 3,
    mostSeconds: 3,
  },
]

/** @returns the names of the controls that cannot run here, each with the reason */
function missingOf(names) {
  const missing = new Map()
  for (const name of names) {
    try {
      prepareControl(name)
    } catch (error) {
      missing.set(name, error.message)
    }
  }
  return missing
}

/** @returns whether all of them were convicted */
export async function runControls({ seed, mostSeconds = SECONDS }) {
  const problem = ensurePeers()
  if (problem !== undefined) console.log(problem)
  const usual = { world: 'single', clients: 3, callers: 4, fast: 0, seconds: 1, mostSeconds, seed }
  const controls = Object.keys(LIBRARIES).filter((name) => !LIBRARIES[name].isExtra)
  const missing = missingOf(controls)
  for (const [name, why] of missing) console.log(`LEFT OUT: the control ${name}. ${why}`)
  const present = controls.filter((name) => !missing.has(name))
  const runs = [
    ...present.map((control) => ({ ...usual, name: control, control })),
    ...BROKEN.map((broken) => ({ ...usual, ...broken, control: '' })),
  ]
  // A developer may have no JVM; in CI nothing is left out.
  const isWhole = missing.size === 0 || process.env.CI === undefined
  let isGood = problem === undefined && isWhole
  for (const run of runs) {
    const result = await runStage({ ...run, isEnough: hasOverlaps })
    const { verdict, faults, report } = result
    const { length: overlaps } = verdict.overlaps
    const rounds = report?.convictions.rounds ?? 0
    const isFound = overlaps + rounds > 0
    isGood &&= isFound
    const found = rounds > 0 ? `${rounds} wrong rounds` : `${overlaps} overlaps`
    const count = report?.operations[run.kinds[0]] ?? verdict.holds
    console.log(
      `control ${run.name}: ${isFound ? 'convicted' : 'NOT CONVICTED'}, ${found} in ${count} operations, ` +
        `${countOf(faults)} faults, ${result.seconds.toFixed(0)} s`,
    )
  }
  return isGood
}

async function hasOverlaps(stage) {
  const { overlaps } = await stage.ask({ kind: 'judge' }, 'verdict')
  return overlaps.length > 0
}
