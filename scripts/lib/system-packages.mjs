#!/usr/bin/env node
// What tests need of the machine beside Redis: a Prometheus with its promtool, and a Chromium. Tests that need one
// are skipped where it lacks; in CI it has to be there, so there this installs what lacks, by apt and without a prompt.
// No service is started.
//
//   node scripts/lib/system-packages.mjs    says what lacks; with CI=true installs it
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

/** The programs of each package of Debian. */
const PACKAGES = { prometheus: ['prometheus', 'promtool'], chromium: ['chromium'] }

/** What invoke-rc.d and systemd ask before they start a service of a package: 101 is no. */
const POLICY = '/usr/sbin/policy-rc.d'

/** @returns {string | undefined} where the program is, by PATH */
function findProgram(name) {
  const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

function lacking() {
  return Object.keys(PACKAGES).filter((name) => !PACKAGES[name].every(findProgram))
}

function apt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  spawnSync('apt-get', ['-qq', '-y', ...args], { env, stdio: 'inherit', timeout: 240_000 })
}

function install(packages) {
  console.log(`Installing ${packages.join(' and ')} by apt, without starting a service …`)
  const isOurs = !existsSync(POLICY)
  try {
    if (isOurs) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    apt('update')
    apt('install', '--no-install-recommends', ...packages)
  } catch (error) {
    // Without the rights of root.
    console.error(error.message)
  } finally {
    if (isOurs) rmSync(POLICY, { force: true })
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  if (process.env.CI === 'true' && lacking().length > 0) install(lacking())
  const left = lacking()
  if (left.length > 0) {
    console.error(`Not installed: ${left.join(', ')}. The tests that need them are skipped.`)
    if (process.env.CI === 'true') process.exitCode = 1
  }
}
