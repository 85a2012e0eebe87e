import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const tests = resolve(__dirname, '..')

/**
 * Folders that this test does not check. The tests with Java also measure waits of Redisson, and the test support has
 * no tests.
 */
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
    // This test compares with a time of the same clock.
    'opentelemetry/holder-links.test.ts',
    // The bound is the remaining lease in Redis, which the test reads after the measurement has begun.
    'process/programs.test.ts',
  ])
  expect(found(/toBe(?:Less|Greater)Than(?:OrEqual)?\(\s*atLoad\(/g)).toEqual([
    // These tests use the shortest of five rounds, or most of all waits.
    'read-write/read-write-cluster.test.ts',
    'semaphore/semaphore.test.ts',
    'semaphore/semaphore.test.ts',
  ])
})
