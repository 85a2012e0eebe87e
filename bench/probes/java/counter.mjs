// Threads of Java and as many tasks of Node.js increase one counter in a plain file. Each holder reads the counter,
// pauses for a millisecond and writes the counter. So two holders at once lose a count. The program needs a JDK and
// Maven, see CONTRIBUTING.md.
// Run `npm run build`, then `node bench/probes/java/counter.mjs [workers] [rounds] [line or release of Redisson]`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { startJava } from '../../support/java.mjs'
import { startServer } from '../../support/support.mjs'

const [workers = 8, rounds = 250] = process.argv.slice(2, 4).map(Number)
const folder = mkdtempSync(join(tmpdir(), 'counter-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const file = join(folder, 'count')
writeFileSync(file, '0')

const server = await startServer()
const java = await startJava(process.argv[4])
await java.ask('open', { client: 'a', port: server.port })
const client = new Holdfast({ redis: server.url })
const lock = client.getLock('counter')
const task = async () => {
  for (let i = 0; i < rounds; i++) {
    await lock.using(async () => {
      const count = Number(await readFile(file, 'utf8'))
      await pause(1)
      await writeFile(file, String(count + 1))
    })
  }
}

const start = performance.now()
const ended = {}
const note = (side) => () => {
  ended[side] = performance.now() - start
}
await Promise.all([
  Promise.all(Array.from({ length: workers }, task)).then(note('Node')),
  java.ask('count', { client: 'a', names: ['counter'], file, workers, rounds }).then(note('Java')),
])
const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`
const acquisitions = 2 * workers * rounds
const violations = acquisitions - Number(readFileSync(file, 'utf8'))
console.log(`${workers} threads of Java and ${workers} tasks of Node.js, ${rounds} rounds each:`)
console.log(
  `${acquisitions} acquisitions, ${violations} violations; ` +
    `Java finished after ${seconds(ended.Java)}, Node.js after ${seconds(ended.Node)}`,
)
await client.close()
java.stop()
await server.stop()
