import { Holdfast } from '../../src/index.ts'
import { within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { startProxy } from '../support/proxy.ts'
import * as scripts from '../support/scripts.ts'
import { startSettable } from '../support/settable-clock.ts'

/** The test changes the clock of the server while clients are connected. */
async function scene() {
  const server = await startSettable()
  for (const { source } of Object.values(scripts)) await server.admin.script('LOAD', source)
  const proxy = await startProxy(server.port)
  const clientAt = (url: string) => {
    const client = new Holdfast({ redis: url, commandTimeoutMs: 400, outageMs: 10_000 })
    atEnd(() => client.close(), { beforeCheck: true })
    atEnd(() => proxy.heal(), { beforeCheck: true })
    return client.getCountDownLatch('it')
  }
  return { server, proxy, mine: clientAt(proxy.url), theirs: clientAt(server.url) }
}

test.each([600_000, 500, -500, -600_000])(
  'calls after the clock was set by %i ms succeed, and count once',
  async (ms) => {
    const { server, mine, theirs } = await scene()
    expect(await mine.trySetCount(9)).toBe(true)
    expect(await theirs.countDown()).toBe(8)
    await server.step(ms)
    expect(await within(15_000, mine.countDown())).toBe(7)
    expect(await within(15_000, theirs.countDown())).toBe(6)
    expect(await theirs.delete()).toBe(true)
    expect(await mine.trySetCount(4)).toBe(true)
    // One client sets the count after the clock has changed. The other client does not know the new time.
    await server.step(ms)
    expect(await theirs.delete()).toBe(true)
    expect(await theirs.trySetCount(3)).toBe(true)
    expect(await within(15_000, mine.countDown())).toBe(2)
    expect(await theirs.count()).toBe(2)
    await theirs.delete()
  },
)

test('a count-down whose answer is lost while the clock is set forward counts once', async () => {
  const { server, proxy, mine, theirs } = await scene()
  await theirs.trySetCount(9)
  await mine.count()
  const trap = proxy.onNextRequest(scripts.countDown.sha1, 'holdReply')
  const counting = mine.countDown().catch(String)
  await trap.seen
  await server.step(600_000)
  // Redis no longer remembers the outcome. So it refuses the request as late, and the outcome is unknown.
  const told = await within(15_000, counting)
  expect(told).toContain('this call may have counted it down once')
  expect(told).toContain('Redis answers again, but no longer knows the request')
  expect(await theirs.count()).toBe(8)
  await theirs.delete()
})
