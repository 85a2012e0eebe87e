// Negative controls: each of them must be found out, or the harness sees nothing.
import { ensurePeers } from '../../../bench/compare/libraries/peer.mjs'
import { countOf } from '../report.mjs'
import { runStage } from '../stage.mjs'
import { LIBRARIES } from './libraries.mjs'

/** Until it is convicted, and at most this. */
const SECONDS = 30
/** Ours, with something left out. */
const BROKEN = ['exclusion', 'validity']

/** @returns the names of the controls that can run here. Tells which cannot, and why. */
function availableHere() {
  return Object.entries(LIBRARIES)
    .filter(([name, { prepare }]) => {
      try {
        prepare?.()
        return true
      } catch (error) {
        console.log(`LEFT OUT: the control ${name}. ${error.message}`)
        return false
      }
    })
    .map(([name]) => name)
}

/** @returns whether all of them were convicted */
export async function runControls({ seed, mostSeconds = SECONDS }) {
  const problem = ensurePeers()
  if (problem !== undefined) console.log(problem)
  const usual = { world: 'single', clients: 3, callers: 4, fast: 0 }
  const controls = availableHere()
  const runs = [
    ...controls.map((control) => ({ ...usual, control })),
    ...BROKEN.map((broken) => ({ ...usual, broken, control: '' })),
  ]
  // On a machine of a developer some may be left out, in CI none.
  const areAll = process.env.CI === undefined || controls.length === Object.keys(LIBRARIES).length
  let isGood = problem === undefined && areAll
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
