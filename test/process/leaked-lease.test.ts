import { startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()

async function run(options: object): Promise<unknown[]> {
  const child = startChild('test/process/fixtures/leaked.mjs', {
    args: [JSON.stringify({ url: server.url, options })],
  })
  await eventually(() => child.all.at(-1) === 'done', { message: `the end; ${child.errors}` })
  return child.all.slice(0, -1)
}

test('only a lease that can no longer be released causes a warning, and the lease stays held', async () => {
  const [warning, ...others] = await run({ heldWarningMs: 60_000 })
  expect(warning).toMatchObject({
    code: 'HOLDFAST_LEASE_LEAKED',
    message: expect.stringMatching(
      /"dropped" \(token \d+\) can no longer be released.*It has no `maxHoldMs`.*dropIt/s,
    ),
  })
  expect(others).toEqual([{ isHeld: true }])
})

test('the warning says that a lease with `maxHoldMs` ends by itself', async () => {
  const [warning] = await run({ heldWarningMs: 60_000, maxHoldMs: 120_000 })
  expect(warning).toMatchObject({
    code: 'HOLDFAST_LEASE_LEAKED',
    message: expect.stringMatching(
      /It ends in 1\d{5} ms, when its `maxHoldMs` of 120000 ms is over/,
    ),
  })
  expect(warning).not.toMatchObject({
    message: expect.stringMatching(/has no|until the release/),
  })
})

test('there is no warning without `heldWarningMs`', async () => {
  expect(await run({})).toEqual([{ isHeld: true }])
})
