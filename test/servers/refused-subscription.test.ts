import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'

const rig = faultRig()

/** The server runs this script for some milliseconds, and refuses all other commands as busy. */
const BUSY_FOR = `
local function now() local t = redis.call('TIME'); return t[1] * 1000 + t[2] / 1000 end
local endsAt = now() + ARGV[1]
while now() < endsAt do end
`

test('a subscription that a busy server refused is confirmed soon after, on the same connection', async () => {
  const client = rig.client({ commandTimeoutMs: 5_000, outageMs: 20_000 })
  const lease = await rig.witness().getLock('it').lock(60_000)
  // From now on the connection for messages is up, and has one channel.
  const first = client.getLock('first')
  const firstLease = await rig.witness().getLock('first').lock(60_000)
  const waitsForFirst = first.lock()
  await rig.listening('first')
  await rig.server.admin.config('SET', 'lua-time-limit', '1')

  const subscribe = rig.proxy.onNextRequest('SUBSCRIBE', 'hold')
  const waiting = client.getLock('it').lock()
  await subscribe.seen
  const busy = rig.server.admin.eval(BUSY_FOR, 0, 300)
  await pause(100)
  subscribe.release()
  await subscribe.done
  await busy
  await rig.listening('it')
  expect(rig.proxy.openConnections.filter((one) => one.isSubscriber)).toHaveLength(1)

  // A message wakes the waiter. Without a subscription, the waiter would send requests all the time.
  await eventually(async () => {
    const requests = rig.proxy.count('EVALSHA')
    await pause(600)
    return rig.proxy.count('EVALSHA') === requests
  })
  await lease.release()
  await (await within(3_000, waiting)).release()
  await firstLease.release()
  await (await waitsForFirst).release()
})

test.each([
  'BUSY Redis is busy running a script.',
  'LOADING Redis is loading the dataset in memory',
])(
  'a subscription that is refused with "%s" is requested again until it is confirmed',
  async (refusal) => {
    const client = rig.client({ commandTimeoutMs: 5_000, outageMs: 20_000 })
    const lease = await rig.witness().getLock('it').lock(60_000)
    const fault = rig.proxy.answer('SUBSCRIBE', `-${refusal}\r\n`)
    const waiting = client.getLock('it').lock()
    await eventually(() => rig.proxy.count('SUBSCRIBE') >= 3)
    fault.heal()
    const requests = rig.proxy.count('SUBSCRIBE')
    await eventually(() => rig.proxy.count('SUBSCRIBE') > requests)
    await pause(600)
    // After its confirmation, the subscription is not requested again.
    expect(rig.proxy.count('SUBSCRIBE')).toBe(requests + 1)
    await lease.release()
    await (await waiting).release()
  },
)

test('a subscription that the user may not make is not requested again', async () => {
  const client = rig.client({ commandTimeoutMs: 5_000, outageMs: 20_000 })
  const lease = await rig.witness().getLock('it').lock(60_000)
  const fault = rig.proxy.answer('SUBSCRIBE', '-NOPERM this user has no permissions\r\n')
  const waiting = client.getLock('it').lock()
  await eventually(() => rig.proxy.count('SUBSCRIBE') === 1)
  await pause(1_000)
  expect(rig.proxy.count('SUBSCRIBE')).toBe(1)
  fault.heal()
  await lease.release()
  await (await waiting).release()
})
