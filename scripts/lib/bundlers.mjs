#!/usr/bin/env node
// Installs the bundlers of the tests, Bun and Deno into .cache/bundlers, in the versions of
// test/package/bundlers/package.json. The library itself needs none of them.
//
//   node scripts/lib/bundlers.mjs    installs them if they are missing; reports a failure
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const wanted = join(root, 'test/package/bundlers')
const FOLDER = join(root, '.cache/bundlers')

/** True if the wanted versions are installed. */
function areThere() {
  const [have, want] = [FOLDER, wanted].map((folder) => join(folder, 'package.json'))
  // npm writes this file as the last step of an installation that succeeded.
  const isInstalled = existsSync(join(FOLDER, 'node_modules/.package-lock.json'))
  return isInstalled && readFileSync(have, 'utf8') === readFileSync(want, 'utf8')
}

function install() {
  console.log(`Installing the bundlers, Bun and Deno into ${FOLDER} …`)
  mkdirSync(FOLDER, { recursive: true })
  copyFileSync(join(wanted, 'package.json'), join(FOLDER, 'package.json'))
  const args = ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund']
  return spawnSync('npm', args, {
    cwd: FOLDER,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  }).status
}

if (argv[1] === fileURLToPath(import.meta.url) && !areThere() && install() !== 0) {
  console.error('The bundlers were not to be had: the tests of bundles are skipped.')
  // In CI, no test may be skipped.
  if (process.env.CI) process.exitCode = 1
}
