// Runs the test suite on other versions of Node.js than the current version.
//
//   node scripts/test-on-node.mjs 22 24
//   node scripts/test-on-node.mjs 24 --only contract,process    these folders of test/
//
// npm has the binaries of Node.js as packages, one for each platform. They are installed into .cache/, outside of git.
// Tests that do not depend on the version of Node.js are left out: of the package, of the scripts in Redis, of the
// repository, and of locks in memory. The contract suites run with one server and one master only, because other
// deployments take long.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { workers } from './lib/workers.mjs'
import { runJest } from './run-jest.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const platform = process.platform === 'win32' ? 'win' : process.platform
const binaryPackage = `node-${platform}-${process.arch}`

const { values: options, positionals: versions } = parseArgs({
  options: { only: { type: 'string' } },
  allowPositionals: true,
})
if (versions.length === 0 || versions.some((version) => !/^\d+(\.\d+)*$/.test(version))) {
  console.error('usage: node scripts/test-on-node.mjs <version>…, for example 22 24')
  process.exit(2)
}

const failed = versions.filter((version) => !passesOn(version))
if (failed.length > 0) {
  console.error(`The suite failed on Node.js ${failed.join(' and ')}.`)
  process.exit(1)
}

function passesOn(version) {
  const node = binaryOf(version)
  if (node === undefined) return false
  const path = `${dirname(node)}${delimiter}${process.env.PATH}`
  const env = { ...process.env, PATH: path, HOLDFAST_WORLDS: 'few' }
  console.log(`\nNode.js ${spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout}`)
  const others = ['package', '(.*/)?lua', 'memory', 'repo'].map(
    (folder) => `<rootDir>/test/${folder}/`,
  )
  const only = options.only?.split(',').map((folder) => `/test/${folder}/`) ?? []
  const left = ['--testPathIgnorePatterns', '/node_modules/', ...others]
  // Fewer workers than for the whole suite, because the remaining tests wait less and need more CPU time.
  return runJest([`--maxWorkers=${workers(2.5)}`, ...only, ...left], { node, env })
}

function binaryOf(version) {
  const folder = join(root, '.cache', `node-${version}`)
  const bin = join(folder, 'node_modules', binaryPackage, 'bin')
  const node = join(bin, process.platform === 'win32' ? 'node.exe' : 'node')
  if (existsSync(node)) return node

  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const args = ['install', `${binaryPackage}@${version}`, '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', args, {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status === 0 && existsSync(node)) return node
  console.error(`Node.js ${version} could not be installed from ${binaryPackage}.`)
  return undefined
}
