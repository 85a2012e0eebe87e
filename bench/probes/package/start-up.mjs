// Measures how long each entry point takes to load, how much heap it then uses, and how much it adds to the package. The
// entry points take turns. redlock does not load ioredis, so compare it with `holdfast` less `ioredis`.
// Run `npm run build`, then `node bench/probes/package/start-up.mjs [rounds]`.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { loadedBy } from '../../support/loaded-by.mjs'
import { aboutTheMachine } from '../../support/support.mjs'

const rounds = Number(process.argv[2] ?? 15)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const { exports: entries } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))

const specifiers = Object.keys(entries)
  .filter((entry) => entry !== './package.json' && entry !== './renewal-worker')
  .map((entry) => entry.replace('.', 'holdfast'))
const programs = ['', ...specifiers, 'ioredis', 'redlock', '@opentelemetry/api', 'prom-client']

/** The time of the import alone, without the start of the process, and the heap after a garbage collection, in kB. */
function load(specifier) {
  const program = `const start = performance.now()
    ${specifier && `await import('${specifier}')`}
    const ms = performance.now() - start
    gc()
    console.log(JSON.stringify([ms, process.memoryUsage().heapUsed / 1_000]))`
  const args = ['--expose-gc', '--input-type=module', '--eval', program]
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }))
}

const times = new Map(programs.map((specifier) => [specifier, []]))
for (let round = 0; round < rounds; round++) {
  for (const [specifier, all] of times) all.push(load(specifier))
}
console.log(aboutTheMachine())
console.log(`import, median and fastest of ${rounds}, in milliseconds; heap, median, in kB`)
for (const [specifier, all] of times) {
  const [ms, heaps] = [0, 1].map((i) => all.map((one) => one[i]).sort((a, b) => a - b))
  const middle = Math.floor(all.length / 2)
  console.log(
    `${(specifier || '(none)').padEnd(24)} ${ms[middle].toFixed(1)} ${ms[0].toFixed(1)} ${heaps[middle].toFixed(0)}`,
  )
}

const pack = ['pack', '--dry-run', '--json', '--ignore-scripts']
const [{ files }] = JSON.parse(execFileSync('npm', pack, { cwd: root, encoding: 'utf8' }))
const packed = (some) => {
  const text = Buffer.concat(some.map(({ path }) => readFileSync(`${root}/${path}`)))
  return `${(gzipSync(text, { level: 9 }).length / 1_000).toFixed(1)} kB of ${(text.length / 1_000).toFixed(0)}`
}
const core = loadedBy(join(root, 'dist/esm/src/index.js'))
const only = (paths) => packed([...paths].map((path) => ({ path: relative(root, path) })))
console.log('gzipped')
console.log(`all files of the package            ${packed(files)}`)
console.log(`holdfast loads                      ${only(core)}`)
for (const specifier of specifiers.slice(1)) {
  const { default: entry } = entries[specifier.replace('holdfast', '.')].import
  const added = [...loadedBy(join(root, entry))].filter((file) => !core.has(file))
  console.log(`${`${specifier} also loads`.padEnd(36)}${only(added)}`)
}
