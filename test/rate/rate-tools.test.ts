import { newDashboard } from '../../tools/dashboard/dashboard.ts'
import { newSetting } from '../commands/setting.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import type { Detail } from '../support/printed.ts'

const { server, newClient } = newSetting()

async function fullLimiter() {
  const client = newClient({ label: 'api-1' })
  const limiter = client.getRateLimiter('mail', { permits: 3, perMs: 600_000 })
  await limiter.acquire({ cost: 3 })
  const waiting = limiter.acquire({ cost: 2 })
  waiting.catch(() => undefined)
  await eventually(async () => (await limiter.inspect()).waiting === 1)
  await eventually(async () => (await client.clientInfo(client.id)) !== null)
  return limiter
}

test('list and inspect show the used permits of a rate limiter, and the calls that wait', async () => {
  await fullLimiter()
  const listed = await holdfast(['list', server.url, '--json'])
  expect(JSON.parse(listed.out)).toMatchObject({
    ...{ name: 'mail', kind: 'rate', state: 'closed', stateText: '3 of 3 used' },
    ...{ holders: [], waiting: 1, token: null, count: { available: 0, taken: 3 } },
  })
  const { out } = await holdfast(['inspect', 'mail', server.url, '--look-ms', '0'])
  expect(out).toMatch(/kind +rate\n +state +3 of 3 used\n/)
  expect(out).toContain('api-1')
  expect(out).toContain('2 permits')
  expect(out).not.toContain('release --force')
})

test('a rate limiter with available permits is listed with --all', async () => {
  const limiter = newClient().getRateLimiter('mail', { permits: 3, perMs: 600_000 })
  await limiter.acquire()
  expect((await holdfast(['list', server.url])).out).toBe('')
  expect((await holdfast(['list', server.url, '--all'])).out).toMatch(/mail +rate +1 of 3 used/)
})

test('release --force refuses a rate limiter, and leaves it unchanged', async () => {
  const limiter = await fullLimiter()
  const { code, err } = await holdfast(['release', 'mail', server.url, '--force', '--yes'])
  expect(code).toBe(2)
  expect(err).toMatch(/^"mail" is a rate limiter, which has no holder\./)
  expect(await limiter.inspect()).toMatchObject({ used: 3, waiting: 1 })
})

test('the dashboard shows the waiting calls of a rate limiter', async () => {
  await fullLimiter()
  const dashboard = newDashboard({ redis: server.url, authorize: () => 'read' })
  atEnd(() => dashboard.close(), { beforeCheck: true })
  const answer = await dashboard.fetch(new Request('http://localhost/api/lock?key=mail'))
  const { lock: detail } = (await answer.json()) as { lock: Detail }
  expect(detail).toMatchObject({ stateText: '3 of 3 used', hasHolders: false, waiting: 1 })
  expect(detail.queue.map(({ label }) => label)).toEqual(['api-1'])
})
