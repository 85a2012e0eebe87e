// Negative controls: each of them must be found out, or the harness sees nothing.
import { ensurePeers } from '../../../bench/compare/libraries/peer.mjs'
import { countOf } from '../report.mjs'
import { runStage } from '../stage.mjs'
import { LIBRARIES } from './libraries.mjs'

const SECONDS = 8
/** Ours, with something left out. */
const BROKEN = ['exclusion', 'validity']

/** @returns whether all of them were convicted */
export async function runControls({ seed, seconds = SECONDS }) {
  const problem = ensurePeers()
  if (problem !== undefined) console.log(problem)
  const usual = { world: 'single', clients: 3, callers: 4, fast: 0 }
  const runs = [
    ...Object.keys(LIBRARIES).map((control) => ({ ...usual, control })),
    ...BROKEN.map((broken) => ({ ...usual, broken, control: '' })),
  ]
  let isGood = problem === undefined
  for (const run of runs) {
    const result = await convict({ ...run, seed }, Math.min(seconds, SECONDS))
    const { verdict, faults } = result
    const name = run.control || `Holdfast without ${run.broken}`
    const isConvicted = verdict.overlaps.length > 0
    isGood &&= isConvicted
    console.log(
      `control ${name}: ${isConvicted ? 'convicted' : 'NOT CONVICTED'}, ${verdict.overlaps.length} overlaps ` +
        `in ${verdict.holds} acquisitions, ${countOf(faults)} faults, ${result.seconds.toFixed(0)} s`,
    )
  }
  return isGood
}

/** Once more, for longer, where the first time was too short to meet the fault. */
async function convict(options, seconds) {
  const first = await runStage({ ...options, seconds })
  if (first.verdict.overlaps.length > 0) return first
  return runStage({ ...options, seconds: 3 * seconds })
}
