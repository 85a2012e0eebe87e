// Lets `npm test` and `npm run demo` work straight after a clone: installs the locked dependencies
// if they are missing or older than the lock file. This program runs before the installation, so it uses
// only modules of Node.js.
import { spawnSync } from 'node:child_process'
import { lstatSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const modifiedAt = (path) => statSync(`${root}/${path}`, { throwIfNoEntry: false })?.mtimeMs

// npm writes this file as the last step of an installation that succeeded.
const installed = modifiedAt('node_modules/.package-lock.json')
const locked = modifiedAt('package-lock.json')

if (lstatSync(`${root}/node_modules`, { throwIfNoEntry: false })?.isSymbolicLink()) {
  // npm ci would empty the folder behind the link, which belongs to another checkout.
  console.log('node_modules is a symbolic link: taken as it is.')
} else if (installed === undefined || installed < locked) {
  const reason = installed === undefined ? 'not installed yet' : 'older than package-lock.json'
  console.log(`Dependencies are ${reason}: running npm ci, about 15 seconds.`)

  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: 'inherit',
    // On Windows npm is a batch file, which only a shell can start.
    shell: process.platform === 'win32',
  })
  if (error || status !== 0) {
    console.error(`\nnpm ci did not succeed${error ? ` (${error.message})` : ''}.`)
    console.error('Holdfast needs Node.js 20.19 or later, npm and access to an npm registry.')
    process.exit(status || 1)
  }
}
