// Builds the documentation site into site/dist/: static files, which any host can serve as they are.
//
//   npm run site                          builds it
//   npm run site -- --base /holdfast/     for a folder of a host, instead of its root
//   npm run site -- --serve [port]        builds it, and serves it on 127.0.0.1
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const site = join(root, 'site')

/** Installs the tools of the site. They have a separate lock file, because the library does not depend on them. */
function install() {
  // npm writes a copy of the lock file as the last step of an installation that succeeded.
  const installed = join(site, 'node_modules/.package-lock.json')
  if (
    existsSync(installed) &&
    versionsIn(installed) === versionsIn(join(site, 'package-lock.json'))
  )
    return
  console.log('Installing the tools of the site, about 20 seconds.')
  // No tool needs its install script.
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], site)
}

/** The version of each package. Optional packages do not count, because npm leaves out packages for other platforms. */
function versionsIn(path) {
  const { packages } = JSON.parse(readFileSync(path, 'utf8'))
  const all = Object.entries(packages).filter(([name, { optional }]) => name !== '' && !optional)
  return JSON.stringify(all.map(([name, { version }]) => [name, version]).sort())
}

function run(program, args, cwd, env = process.env) {
  const { status, error } = spawnSync(program, args, {
    cwd,
    env,
    stdio: 'inherit',
    // On Windows npm is a batch file, which only a shell can start.
    shell: process.platform === 'win32' && program === 'npm',
  })
  if (error) console.error(error.message)
  if (error || status !== 0) process.exit(status || 1)
}

const { values, positionals } = parseArgs({
  args: argv.slice(2),
  allowPositionals: true,
  options: { base: { type: 'string', default: '/' }, serve: { type: 'boolean', default: false } },
})
const base = `/${values.base}/`.replace(/\/+/g, '/')

install()
run(process.execPath, ['build.mjs'], site, { ...process.env, SITE_BASE: base })
if (values.serve) {
  const { serveSite } = await import('../site/lib/serve.mjs')
  const port = Number(positionals[0] ?? 8080)
  const { url } = await serveSite(join(site, 'dist'), { base, port })
  console.log(`It is served at ${url}. Stop it with Ctrl+C.`)
}
