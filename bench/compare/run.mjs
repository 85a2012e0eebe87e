// Compares Holdfast with the locks of other npm packages, with Redisson, and with floors. A floor has the cost of two
// bare commands of Redis.
// `npm run bench -- [--only a,b] [--quick] [--rounds n] [--libraries holdfast,redlock]
// [--java] [--without-peers] [--into folder]`.
// A full run takes about 14 minutes, and 10 more with `--java`. On a busy machine it takes longer.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ensureRedisson } from '../../scripts/lib/redisson.mjs'
import { startServer } from '../support/support.mjs'
import { listLibraries } from './libraries/index.mjs'
import { ensurePeers } from './libraries/peer.mjs'
import { surroundings, writeReport } from './report.mjs'
import { scenarios } from './scenarios/index.mjs'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    libraries: { type: 'string' },
    java: { type: 'boolean', default: false },
    'without-peers': { type: 'boolean', default: false },
    into: { type: 'string' },
  },
})

// A quick run does not replace the published results.
const folder = options.quick ? '../../.cache/bench' : '../results'
const into = options.into ?? fileURLToPath(new URL(folder, import.meta.url))
const wanted = options.only?.split(',') ?? scenarios.map(({ id }) => id)
const unknown = wanted.filter((id) => !scenarios.some((scenario) => scenario.id === id))
if (unknown.length > 0) {
  console.error(`There is no scenario ${unknown.join(', ')}. There are:`)
  for (const { id, title } of scenarios) console.error(`  ${id}  ${title}`)
  process.exit(1)
}

const missing = options['without-peers'] ? 'left out' : ensurePeers()
if (missing !== undefined) console.log(`Without the peers: ${missing}`)
const redisson = options.java ? ensureRedisson('4').version : undefined
const server = await startServer()
const context = {
  server,
  libraries: listLibraries({ peers: missing === undefined, java: redisson !== undefined }),
  quick: options.quick,
  rounds: Number(options.rounds ?? (options.quick ? 1 : 3)),
}

const chosen = options.libraries?.split(',')
if (chosen) {
  context.libraries = context.libraries.filter(({ id, floor }) => floor || chosen.includes(id))
}

const words = process.argv.slice(2)
const command = ['npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' ')
const where = surroundings({ server, command, redisson })
for (const { measure, ...scenario } of scenarios) {
  if (!wanted.includes(scenario.id)) continue
  const start = performance.now()
  const measured = await measure(context)
  const path = writeReport(into, where, [{ ...scenario, ...measured }])
  const seconds = ((performance.now() - start) / 1_000).toFixed(0)
  const outcome = measured.skipped ? `not measured: ${measured.skipped}` : `${seconds} s, ${path}`
  console.log(`(${scenario.id}) ${scenario.title}: ${outcome}`)
}
await server.stop()
