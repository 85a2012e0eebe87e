import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const tests = resolve(__dirname, '..')

/** The tests beside Java measure waits of Redisson too. The helpers of the support are no tests. */
const others = /^(interop|soak|support|package|places)\//

const files = readdirSync(tests, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !others.test(file) && file !== 'repo/times.test.ts')
  .map((file) => ({ file, text: readFileSync(join(tests, file), 'utf8') }))

const found = (pattern: RegExp) =>
  files.flatMap(({ file, text }) => Array.from(text.matchAll(pattern), () => file)).sort()

test('at most 40 tests measure a time by the helper whose limit follows the load', () => {
  expect(found(/\btakes\(/g).length).toBeLessThanOrEqual(40)
})

test('no test compares a duration without the helper, except the tests that are listed here', () => {
  const clock = String.raw`(?:performance|Date)\.now\(\)`
  const duration = new RegExp(String.raw`expect\(\(?${clock} - [\w.]+\)?`, 'g')
  expect(found(duration)).toEqual([
    // The other side is a time of the same clock.
    'opentelemetry/holder-links.test.ts',
    // The bound is the remaining lease by Redis, read after the measurement began.
    'process/programs.test.ts',
  ])
  expect(found(/toBe(?:Less|Greater)Than(?:OrEqual)?\(\s*atLoad\(/g)).toEqual([
    // The least of five rounds, and the greater part of all waits.
    'read-write/read-write-cluster.test.ts',
    'semaphore/semaphore.test.ts',
    'semaphore/semaphore.test.ts',
  ])
})
