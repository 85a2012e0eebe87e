// Negative controls: each of them must be found out, or the harness sees nothing.
import { ensurePeers } from '../../../bench/compare/libraries/peer.mjs'
import { countOf } from '../report.mjs'
import { runStage } from '../stage.mjs'
import { LIBRARIES } from './libraries.mjs'

/** Until it is convicted, and at most this. */
const SECONDS = 30
/** Ours, with something left out. */
const BROKEN = ['exclusion', 'validity']

/** @returns the names of the controls that cannot run here, each with the reason */
function missingOf(names) {
  const missing = new Map()
  for (const name of names) {
    try {
      LIBRARIES[name].prepare?.()
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
  const usual = { world: 'single', clients: 3, callers: 4, fast: 0 }
  const controls = Object.keys(LIBRARIES).filter((name) => !LIBRARIES[name].isExtra)
  const missing = missingOf(controls)
  for (const [name, why] of missing) console.log(`LEFT OUT: the control ${name}. ${why}`)
  const runs = [
    ...controls.filter((name) => !missing.has(name)).map((control) => ({ ...usual, control })),
    ...BROKEN.map((broken) => ({ ...usual, broken, control: '' })),
  ]
  // A developer may have no JVM; in CI nothing is left out.
  const isWhole = missing.size === 0 || process.env.CI === undefined
  let isGood = problem === undefined && isWhole
  for (const run of runs) {
    const result = await runStage({ ...run, seed, seconds: 1, mostSeconds, isEnough: isConvicted })
    const { verdict, faults } = result
    const name = run.control || `Holdfast without ${run.broken}`
    const isFound = verdict.overlaps.length > 0
    isGood &&= isFound
    console.log(
      `control ${name}: ${isFound ? 'convicted' : 'NOT CONVICTED'}, ${verdict.overlaps.length} overlaps ` +
        `in ${verdict.holds} acquisitions, ${countOf(faults)} faults, ${result.seconds.toFixed(0)} s`,
    )
  }
  return isGood
}

async function isConvicted(stage) {
  const { overlaps } = await stage.ask({ kind: 'judge' }, 'verdict')
  return overlaps.length > 0
}
