import { barrier } from './barrier.mjs'
import { closing } from './closing.mjs'
import { commands } from './commands.mjs'
import { connection } from './connection.mjs'
import { diagnostics } from './diagnostics.mjs'
import { doctor } from './doctor.mjs'
import { durability } from './durability.mjs'
import { fair } from './fair.mjs'
import { frames } from './frames.mjs'
import { handOver } from './hand-over.mjs'
import { held } from './held.mjs'
import { job } from './job.mjs'
import { kept } from './kept.mjs'
import { latch } from './latch.mjs'
import { latchScripts } from './latch-scripts.mjs'
import { leader } from './leader.mjs'
import { leaderTerm } from './leader-term.mjs'
import { leaderWatch } from './leader-watch.mjs'
import { leases } from './leases.mjs'
import { memory } from './memory.mjs'
import { metrics } from './metrics.mjs'
import { permitScripts } from './permit-scripts.mjs'
import { permits } from './permits.mjs'
import { quorum } from './quorum.mjs'
import { rate } from './rate.mjs'
import { readWrite } from './read-write.mjs'
import { readWriteScripts } from './read-write-scripts.mjs'
import { release } from './release.mjs'
import { replicas } from './replicas.mjs'
import { scripts } from './scripts.mjs'
import { security } from './security.mjs'
import { semaphore } from './semaphore.mjs'
import { semaphoreScripts } from './semaphore-scripts.mjs'
import { several } from './several.mjs'
import { testing } from './testing.mjs'
import { tokens } from './tokens.mjs'
import { unknown } from './unknown.mjs'
import { waiting } from './waiting.mjs'

const areas = {
  scripts,
  tokens,
  leases,
  waiting,
  fair,
  leader: [...leader, ...leaderTerm, ...leaderWatch],
  'hand-over': handOver,
  kept,
  'unknown-outcomes': unknown,
  quorum,
  durability,
  connection,
  frames,
  'several-locks': several,
  'read-write': [...readWrite, ...readWriteScripts],
  latch: [...latch, ...latchScripts],
  barrier,
  held,
  job,
  semaphore: [...semaphore, ...semaphoreScripts],
  permits: [...permits, ...permitScripts],
  rate,
  memory,
  doctor,
  metrics,
  release,
  replicas,
  commands,
  closing,
  testing,
  diagnostics,
  security,
}

/**
 * Mistakes that a developer could make, each with the test that must find it.
 *
 * @typedef {object} Mutant
 * @property {string} id
 * @property {string} area
 * @property {string} mistake in one sentence
 * @property {string} file
 * @property {string} search occurs in the file exactly once
 * @property {string} replace the text that replaces it
 * @property {string} test the file of the test
 * @property {string} name a part of the title of the test, or of the block around the test
 * @property {string} [within] a part of the title of the block around the test
 * @property {boolean} [build] true if the test uses `dist/`
 */

/** @type {readonly Mutant[]} */
export const mutants = Object.entries(areas).flatMap(([area, those]) =>
  those.map((mutant) => ({ ...mutant, area })),
)
