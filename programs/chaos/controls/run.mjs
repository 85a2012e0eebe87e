// Negative controls: wrong locks in which the judges must find a violation. This shows that the judges work.
import { ensurePeers } from '../../../bench/compare/libraries/peer.mjs'
import { countOf } from '../report.mjs'
import { runStage } from '../stage.mjs'
import { LIBRARIES, prepareControl } from './libraries.mjs'

/** The longest run of a control, in seconds. The run ends at the first violation. */
const SECONDS = 30
/** Holdfast without one of its parts. `broken` is the value of `--break`, and `kinds` is the value of `--kinds`. */
const BROKEN = [
  { name: 'Holdfast without exclusion', broken: 'exclusion', kinds: ['lock'] },
  { name: 'Holdfast without validity', broken: 'validity', kinds: ['lock'] },
  { name: 'Holdfast with two leaders', broken: 'exclusion', kinds: ['election'] },
  { name: 'Holdfast with writers beside readers', broken: 'writers', kinds: ['read-write'] },
  { name: 'Holdfast with permits counted twice', broken: 'permits', kinds: ['permits'] },
  { name: 'Holdfast with plain permits counted twice', broken: 'permits', kinds: ['semaphore'] },
  // Overlaps do not occur with latches and barriers, so these controls run for a fixed time.
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

/** @returns the names of the controls that cannot run on this machine, each with its reason */
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

/** @returns true if the judges found a violation in each control */
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
  // A developer may have no JVM. In CI, all controls must run.
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
