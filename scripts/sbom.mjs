// Writes sbom.cdx.json: a CycloneDX list of the packages that are installed with Holdfast.
//
//   node scripts/sbom.mjs [--check]
//
// `npm sbom --omit dev` on the whole tree leaves out nanoid, because a development dependency also uses nanoid. So npm
// gets a lock file with the run-time dependencies only. The result leaves out the time, the serial number and the
// version of npm, because they change with each run or machine.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { closureOf, readJson } from './lib/locked-packages.mjs'

const FILE = 'sbom.cdx.json'
const path = fileURLToPath(new URL(`../${FILE}`, import.meta.url))
const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } })

const list = listOf(readJson('package.json'), readJson('package-lock.json'))
const text = `${JSON.stringify(list, null, 2)}\n`
const current = readIfPresent(path)
// Another version of npm may write the same list with other fields.
if (current === text || (options.check && packagesIn(current) === packagesIn(text))) {
  console.log(`${FILE} is up to date.`)
} else if (options.check) {
  console.error(`${FILE} is stale: run \`npm run sbom\` and commit the result.`)
  process.exitCode = 1
} else {
  writeFileSync(path, text)
  console.log(`${FILE} written.`)
}

function listOf({ name, version, description, license, dependencies }, lock) {
  const own = { name, version, description, license, dependencies }
  const paths = closureOf(lock.packages, Object.keys(dependencies))
  const packages = Object.fromEntries(paths.map((one) => [one, lock.packages[one]]))
  const parent = mkdtempSync(join(tmpdir(), 'holdfast-sbom-'))
  const folder = join(parent, name) // npm names the package after its folder.
  try {
    mkdirSync(folder)
    writeFileSync(join(folder, 'package.json'), JSON.stringify(own))
    const { lockfileVersion } = lock
    const pruned = { name, version, lockfileVersion, packages: { '': own, ...packages } }
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(pruned))
    const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
    const { serialNumber: _, ...list } = JSON.parse(
      execFileSync('npm', args, {
        cwd: folder,
        encoding: 'utf8',
        shell: process.platform === 'win32',
      }),
    )
    const { timestamp: _time, tools, ...metadata } = list.metadata
    const withoutVersion = tools.map(({ version: _version, ...tool }) => tool)
    return { ...list, metadata: { ...metadata, tools: withoutVersion } }
  } finally {
    rmSync(parent, { recursive: true, force: true })
  }
}

/** The part of the list that `--check` compares: each package with its version and its hashes. */
function packagesIn(text = '{}') {
  const { metadata, components = [] } = JSON.parse(text)
  const own = metadata?.component
  return JSON.stringify([own?.purl, components.map(({ purl, hashes }) => [purl, hashes])])
}

function readIfPresent(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
