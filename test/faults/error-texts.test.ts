import { systemClock } from '../../src/kit/clock.ts'
import { LateGrant } from '../../src/servers/call-failure.ts'
import { REDIS_WORDS } from '../../src/servers/redis/connection/redis-words.ts'
import { ResponseTime } from '../../src/waiting/response-time.ts'
import { RetryBudget } from '../../src/waiting/retry-budget.ts'
import { faultRig, outcome } from '../support/fault-rig.ts'
import { warm } from '../support/warm.ts'

const rig = faultRig()

const UNAVAILABLE = { code: 'HOLDFAST_UNAVAILABLE' }

test('the error of an outage contains the address of the server, and no login', async () => {
  await rig.server.admin.call(
    'ACL',
    'SETUSER',
    'app',
    'reset',
    'on',
    '>secret',
    '~*',
    '&*',
    '+@all',
  )
  const { host, port } = rig.proxy
  const redis = { host, port, username: 'app', password: 'secret' }
  const client = rig.client({ redis, outageMs: 600 } as object)
  await warm(client)
  const hole = rig.proxy.blackHole({ onHeal: 'drop' })
  const { error } = await outcome(client.getLock('it').lock())
  expect(error).toMatchObject(UNAVAILABLE)
  expect(String(error)).toMatch(
    new RegExp(
      `: Redis at ${host}:${port} gave no answer for \\d+ ms \\(no answer within \\d+ ms\\)`,
    ),
  )
  expect(String(error)).not.toMatch(/secret|app/)
  hole.heal()
  await client.close()
  await rig.server.admin.call('ACL', 'DELUSER', 'app')
})

test('the error of an outage contains the address only once', async () => {
  const { host, port } = rig.proxy
  const client = rig.client({ outageMs: 600 })
  rig.proxy.refuse()
  const { error } = await outcome(client.getLock('it').lock())
  expect(error).toMatchObject(UNAVAILABLE)
  expect(String(error).split(`${host}:${port}`)).toHaveLength(2)
})

test('a grant after the end of its lease is not a timely answer, and the error says what to do', () => {
  const limits = {
    clock: systemClock,
    commandTimeoutMs: 1_000,
    outageMs: 10_000,
    patienceMs: () => 10_000,
    words: REDIS_WORDS,
    responseTime: new ResponseTime(),
    address: '127.0.0.1:6379',
    whyDown: () => undefined,
  }
  const budget = new RetryBudget('it', limits)
  budget.failed(new LateGrant(), systemClock.monotonic())
  expect(budget.error('not acquired').message).toMatch(
    /^Lock "it": not acquired: Redis at 127\.0\.0\.1:6379 gave no timely answer for \d+ ms \(the lease had run out before the answer arrived\)\. It is unknown who holds the lock\. Use a longer `leaseMs`/,
  )
})
