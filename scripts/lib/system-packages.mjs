#!/usr/bin/env node
// Checks the programs that tests need beside Redis: Prometheus with promtool, and Chromium. The tests of a missing
// program are skipped. In CI, no test may be skipped, so this program installs the missing programs with apt, without a
// prompt. It starts no service.
//
//   node scripts/lib/system-packages.mjs    reports missing programs; with CI=true, it installs them
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

/** The programs of each package of Debian. */
const PACKAGES = { prometheus: ['prometheus', 'promtool'], chromium: ['chromium'] }

/** The installation of a package runs this program before it starts a service. Exit code 101 forbids the start. */
const POLICY = '/usr/sbin/policy-rc.d'

/** @returns {string | undefined} the path of the program, found by PATH */
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
    // Without root rights, the program cannot write the policy.
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
