import { existsSync } from 'node:fs'
import base from './jest.config.mjs'
import { workers } from './scripts/lib/workers.mjs'

/**
 * Where people run Redis (test/support/places), and the contract suites that are run there in short, as in CI:
 * those that depend on connections, messages and many servers most. HOLDFAST_PLACES=whole runs all of
 * them everywhere; HOLDFAST_WORLDS=sentinel,cluster chooses the places.
 */
const PLACES = {
  sentinel: ['closing', 'order', 'tokens'],
  cluster: ['contract-kept', 'order', 'tokens'],
  'cluster-plain': ['closing', 'order'],
  tls: ['closing', 'order', 'tokens'],
  acl: ['contract-kept', 'contract-waiting', 'events', 'looking', 'order'],
  replicas: ['order', 'tokens'],
  instances: ['closing', 'events', 'looking', 'order'],
  valkey: ['leases', 'order', 'tokens'],
}

const { HOLDFAST_WORLDS, HOLDFAST_PLACES } = process.env
const chosen = HOLDFAST_WORLDS?.split(',') ?? Object.keys(PLACES)
const unknown = chosen.filter((name) => !(name in PLACES))
if (unknown.length > 0) {
  throw new Error(
    `HOLDFAST_WORLDS: no ${unknown.join(', ')} among ${Object.keys(PLACES).join(', ')}`,
  )
}

const suites = Object.values(PLACES).flat()
const missing = suites.filter(
  (name) => !existsSync(new URL(`./test/contract/${name}.test.ts`, import.meta.url)),
)
if (missing.length > 0) throw new Error(`There is no contract suite ${missing.join(', ')}`)

const { testMatch: _, maxWorkers: _all, testTimeout, testSequencer, reporters, ...each } = base

/** @param {string} displayName @param {string[]} testMatch @param {object} globals */
const project = (displayName, testMatch, globals = {}) => ({
  ...each,
  displayName,
  testMatch: testMatch.map((file) => `<rootDir>/test/${file}.test.ts`),
  testPathIgnorePatterns: ['/node_modules/'],
  globals,
})

export default {
  testTimeout,
  testSequencer,
  maxWorkers: workers(3), // Six servers and more for one world work, too.
  reporters,
  projects: [
    ...chosen.map((name) => {
      const files = HOLDFAST_PLACES === 'whole' ? ['*'] : PLACES[name]
      return project(
        name,
        files.map((file) => `contract/${file}`),
        { holdfastPlace: name },
      )
    }),
    ...(HOLDFAST_WORLDS === undefined ? [project('pages', ['places/*'])] : []),
  ],
}
