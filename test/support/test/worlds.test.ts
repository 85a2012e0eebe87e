import type { Holdfast } from '../../../src/index.ts'
import { describeWorlds } from '../worlds.ts'
import { runFixture } from './run-fixture.ts'

describeWorlds('a world', (world) => {
  let client: Holdfast | undefined

  afterEach(async () => {
    // The world closes its clients after this hook.
    const lease = await client?.getLock('after each').tryLock()
    await lease?.release()
    client = undefined
  })

  test('a world gives clients that share locks, as processes do', async () => {
    const [first, second] = [world.newClient(), world.newClient()]
    const lease = await first.getLock('shared').tryLock()
    expect(lease).not.toBeNull()
    expect(await second.getLock('shared').tryLock()).toBeNull()
    expect(await world.server.admin.exists(world.rawName('shared'))).toBe(1)
    await lease?.release()
    expect(await world.server.admin.exists(world.rawName('shared'))).toBe(0)
  })

  test('a world closes the clients of a test, and releases what they hold', async () => {
    client = world.newClient()
    expect(await client.getLock('held').tryLock()).not.toBeNull()
  })

  test('a world starts a server again that a test has killed', async () => {
    expect(await world.server.admin.dbsize()).toBe(0)
    await world.server.kill()
  })
})

test.each([
  ['true', 'failed'],
  ['', 'pending'],
])('with CI=%s a world that cannot run here counts as %s', async (CI, status) => {
  const results = await runFixture('absent-world.fixture.ts', { CI })
  expect([...results].map(([name, result]) => [name, result.status])).toEqual([
    ['a world: absent cannot run here: as an example', status],
  ])
})
