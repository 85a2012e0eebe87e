// Looks for known vulnerabilities in the locked packages.
//
//   node scripts/audit.mjs
//
// It runs `npm audit`, which asks the registry. It fails if a package that runs with Holdfast has a vulnerability, or
// if a development dependency has a critical vulnerability. A registry that does not answer is no failure, and is
// reported in capitals. Then npm compares the packages with the advisories in scripts/lib/known-vulnerabilities.json.
// This file has the date of the last review by a person.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { closureOf, readJson } from './lib/locked-packages.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const TIMEOUT_MS = 60_000
const WORST_OF_DEVELOPMENT = 'critical'

const manifest = readJson('package.json')
const { packages } = readJson('package-lock.json')
// Users install ioredis as well. The other peers are optional.
const names = Object.keys({ ...manifest.dependencies, ioredis: manifest.peerDependencies.ioredis })
const atRunTime = new Set(closureOf(packages, names))

const asked = await auditIn(root)
if (asked.report !== undefined) {
  judge(asked.report, 'the registry')
} else {
  console.error(`\nNOT AUDITED BY THE REGISTRY: ${asked.why}`)
  const known = readJson('scripts/lib/known-vulnerabilities.json')
  console.error(`Only advisories that were reviewed by ${known.reviewedAt} are compared.\n`)
  await withRegistry(known.advisories, async (registry) => {
    await judgeBy(registry, root, 'the reviewed advisories')
  })
}
await auditLowest()

/** Audits the oldest versions that package.json allows, because a user may have them. */
async function auditLowest() {
  const known = readJson('scripts/lib/known-vulnerabilities.json')
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-audit-'))
  try {
    const { dependencies } = manifest
    const lowest = Object.entries(dependencies).map(([name, range]) => [
      `node_modules/${name}`,
      { version: range.replace(/^\D+/, '') },
    ])
    const own = { name: 'lowest', version: '1.0.0', dependencies }
    const lock = {
      ...own,
      lockfileVersion: 3,
      packages: { '': own, ...Object.fromEntries(lowest) },
    }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(own))
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
    const { report } = asked.report === undefined ? {} : await auditIn(folder)
    if (report !== undefined)
      judge(report, 'the registry, for the oldest versions that are allowed')
    else {
      await withRegistry(known.advisories, async (registry) => {
        await judgeBy(registry, folder, 'the reviewed advisories, for the oldest versions')
      })
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function judgeBy(registry, folder, source) {
  const { report, why } = await auditIn(folder, registry)
  if (report === undefined) throw new Error(`npm could not compare the packages: ${why}`)
  judge(report, source)
}

/** Prints the vulnerabilities, and sets the exit code. */
function judge({ vulnerabilities }, source) {
  const found = Object.values(vulnerabilities)
  const runs = found.filter(({ nodes }) => nodes.some((path) => atRunTime.has(path)))
  const others = found.filter((one) => !runs.includes(one))
  const worst = others.filter(({ severity }) => severity === WORST_OF_DEVELOPMENT)
  for (const one of [...runs, ...others]) {
    const use = runs.includes(one) ? 'runs with Holdfast' : 'development only'
    console.error(`${one.severity}: ${one.name} ${one.range} (${use}) ${reasonsOf(one)}`)
  }
  if (runs.length > 0 || worst.length > 0) process.exitCode = 1
  console.log(
    `By ${source}: ${runs.length} vulnerable run-time packages of ${atRunTime.size}; ${others.length} vulnerable development packages, ${worst.length} of them ${WORST_OF_DEVELOPMENT}.`,
  )
}

function reasonsOf({ via }) {
  return via
    .map((one) => (typeof one === 'string' ? `through ${one}` : `${one.title} ${one.url}`))
    .join('; ')
}

/** @returns {Promise<{ report?: any, why: string }>} no report if the registry did not answer with one */
async function auditIn(cwd, registry) {
  const args = ['audit', '--json', '--package-lock-only', '--fetch-retries=0']
  args.push(`--fetch-timeout=${TIMEOUT_MS}`)
  if (registry !== undefined) args.push(`--registry=${registry.url}`, `--cache=${registry.cache}`)
  const child = spawn('npm', args, { cwd, shell: process.platform === 'win32' })
  let out = ''
  let err = ''
  child.stdout.on('data', (text) => {
    out += text
  })
  child.stderr.on('data', (text) => {
    err += text
  })
  await once(child, 'close')
  try {
    const report = JSON.parse(out)
    if (report.auditReportVersion !== undefined) return { report, why: '' }
    return { why: report.message ?? report.error?.summary ?? out.trim() }
  } catch {
    return { why: `npm audit wrote no report. ${err.trim()}` }
  }
}

/** Calls `use` with a local registry that serves these advisories. npm compares the versions itself. */
async function withRegistry(advisories, use) {
  const server = createServer((request, response) => {
    request.resume()
    const isAudit = request.method === 'POST' && request.url?.endsWith('/advisories/bulk')
    response.writeHead(isAudit ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isAudit ? advisories : { error: 'not found' }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A separate cache, because npm caches advisories by id, and the ids here are not the ids of the registry.
  const cache = mkdtempSync(join(tmpdir(), 'holdfast-npm-'))
  try {
    await use({ url: `http://127.0.0.1:${server.address().port}`, cache })
  } finally {
    rmSync(cache, { recursive: true, force: true })
    server.closeAllConnections()
    server.close()
  }
}
