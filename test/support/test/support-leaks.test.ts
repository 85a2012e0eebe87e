import { eventually } from '../eventually.ts'
import { type FixtureResult, runFixture } from './run-fixture.ts'

let results: Map<string, FixtureResult>

beforeAll(async () => {
  results = await runFixture('leaky.fixture.ts', { HOLDFAST_LEAK_CHECK_MS: '300' })
})

test('tests that leave nothing behind pass', () => {
  const clean = [...results].filter(([name]) => name.startsWith('clean'))
  expect(clean.filter(([, { status }]) => status !== 'passed')).toEqual([])
  expect(clean).toHaveLength(8)
})

test.each([
  ['timer', /1 active Timeout/],
  ['timer of the library that keeps nothing alive', /1 pending timer, made at .*src\/example\.ts/],
  ['connection', /1 active TCPSocketWrap \(open sockets lead to ports .*\d/],
  ['subscription', /a subscription to left/],
  ['pattern', /a subscription to 1 pattern/],
  ['key with a TTL', /the key left, with a TTL of \d+ ms/],
  ['key with a TTL on a server of its own', /the key left, with a TTL of \d+ ms/],
  ['key without a TTL', /the key redisson_lock_token:\{a\}, without a TTL/],
])('a test that leaves a %s behind fails', (name, message) => {
  const result = results.get(`leaky ${name}`)
  expect(result?.status).toBe('failed')
  expect(result?.failures).toMatch(message)
})

test('a test that causes an unexpected warning fails', () => {
  const result = results.get('warning unexpected')
  expect(result?.status).toBe('failed')
  expect(result?.failures).toMatch(/expectWarnings\(code\)[\s\S]*\[HOLDFAST_HELD_LONG\] It is held/)
})

test('the server of a test that fails is ended', async () => {
  const pid = Number(
    /pid (\d+)/.exec(results.get('failing with a server of its own')?.failures ?? '')?.[1],
  )
  expect(pid).toBeGreaterThan(0)
  await eventually(() => {
    try {
      return !process.kill(pid, 0)
    } catch {
      return true
    }
  })
})
