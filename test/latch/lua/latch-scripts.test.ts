import {
  type Arguments,
  admin,
  LOCK,
  messagesOf,
  NEVER,
  notAfter,
  nowUs,
  run,
  type Script,
  server,
  state,
  type Value,
} from '../../lua/run-script.ts'
import { eventually } from '../../support/eventually.ts'
import { leaves } from '../../support/leaks.ts'
import * as scripts from '../../support/scripts.ts'

const CHANNEL = 'redisson_countdownlatch__channel__{it}'
const ROUND = 'holdfast_round:{it}'
const requestOf = (id: string) => `holdfast_request:{it}:${id}`

beforeEach(() => leaves({ keys: true, why: 'what the scripts make is looked at' }))

let requests = 0

/** Runs a script as a new request, or as a repeat of the request `id`. */
const once = (script: Script, { id = `new-${++requests}`, ...args }: Arguments = {}) =>
  run(
    script,
    { untilUs: NEVER, askedUs: 0, channel: CHANNEL, publish: 'PUBLISH', ...args },
    { request: requestOf(String(id)) },
  ) as Promise<[string, Value, Value?]>

const setCount = (count: number, args?: Arguments) => once(scripts.setCount, { count, ...args })
const countDown = async (args?: Arguments) => {
  const answer = await once(scripts.countDown, args)
  return answer[0] === 'counted' ? answer.slice(0, 2) : answer
}
const deleteCount = (args?: Arguments) => once(scripts.deleteCount, args)
const look = async () =>
  ((await run(scripts.lookAtLatch, {})) as [count: number, round: string]).slice(0, 2)

test('the last count-down deletes the keys of the latch, and publishes that the latch is open', async () => {
  const messages = await messagesOf(async () => {
    expect(await setCount(3)).toEqual(['done', '1'])
    expect(await admin.get(LOCK)).toBe('3')
    expect(await countDown()).toEqual(['counted', 2])
    expect(await countDown()).toEqual(['counted', 1])
    expect(await look()).toEqual([1, await admin.get(ROUND)])
    expect(await countDown()).toEqual(['counted', 0])
  }, CHANNEL)
  expect(messages).toEqual(['1', '0'])
  expect(await admin.exists(LOCK, ROUND)).toBe(0)
})

test('a second count does not replace the first, and a count after a delete starts a new round', async () => {
  await setCount(3)
  const round = await admin.get(ROUND)
  expect(await setCount(5)).toEqual(['done', '0'])
  expect(await look()).toEqual([3, round])
  expect(await deleteCount()).toEqual(['done', '1'])
  expect(await setCount(5)).toEqual(['done', '1'])
  expect(await admin.get(ROUND)).not.toBe(round)
})

test('a count-down of an open latch publishes nothing and leaves no key', async () => {
  const messages = await messagesOf(async () => {
    expect(await countDown()).toEqual(['counted', 0])
    expect(await state()).toEqual([])
    for (const odd of ['0', '-1']) {
      await admin.set(LOCK, odd)
      expect(await look()).toEqual([0, ''])
      expect(await countDown()).toEqual(['counted', 0])
      expect(await state()).toEqual([])
    }
  }, CHANNEL)
  expect(messages).toEqual([])
})

test('a repeated count-down counts once, and gets its first answer again', async () => {
  await setCount(3)
  expect(await countDown({ id: 'a' })).toEqual(['counted', 2])
  expect(await countDown()).toEqual(['counted', 1])
  expect(await countDown({ id: 'a' })).toEqual(['counted', '2'])
  expect((await look())[0]).toBe(1)
})

test('a repeat of the last count-down publishes nothing more, and does not change the next round', async () => {
  const messages = await messagesOf(async () => {
    await setCount(1)
    expect(await countDown({ id: 'a' })).toEqual(['counted', 0])
    expect(await countDown({ id: 'a' })).toEqual(['counted', '0'])
    await setCount(2)
    expect(await countDown({ id: 'a' })).toEqual(['counted', '0'])
  }, CHANNEL)
  expect(messages).toEqual(['1', '0', '1'])
  expect((await look())[0]).toBe(2)
})

test('a repeated request to set a count gets its first answer again, even after the latch opened', async () => {
  expect(await setCount(1, { id: 'a' })).toEqual(['done', '1'])
  expect(await setCount(7, { id: 'b' })).toEqual(['done', '0'])
  expect(await setCount(1, { id: 'a' })).toEqual(['done', '1'])
  await countDown()
  expect(await setCount(1, { id: 'a' })).toEqual(['done', '1'])
  expect(await setCount(7, { id: 'b' })).toEqual(['done', '0'])
  expect((await look())[0]).toBe(0)
})

test('a repeated delete gets its first answer again, and does not change the next round', async () => {
  const messages = await messagesOf(async () => {
    expect(await deleteCount({ id: 'a' })).toEqual(['done', '0'])
    await setCount(2)
    expect(await deleteCount({ id: 'a' })).toEqual(['done', '0'])
    expect(await deleteCount({ id: 'b' })).toEqual(['done', '1'])
    expect(await admin.exists(LOCK, ROUND)).toBe(0)
    await setCount(4)
    expect(await deleteCount({ id: 'b' })).toEqual(['done', '1'])
  }, CHANNEL)
  expect(messages).toEqual(['1', '1', '1'])
  expect((await look())[0]).toBe(4)
})

test.each([
  ['count-down', countDown],
  ['delete', deleteCount],
])('a %s that was requested before the round began does nothing', async (_, ask) => {
  const askedUs = await nowUs()
  await setCount(2)
  const setUs = await admin.get(ROUND)
  expect(await ask({ askedUs })).toEqual(['over', setUs, expect.stringMatching(/^\d{16}$/)])
  expect((await look())[0]).toBe(2)
  expect((await ask({ askedUs: Number(setUs) }))[0]).not.toBe('over')
  expect((await look())[0]).toBeLessThan(2)
})

test.each([
  ['count-down', scripts.countDown],
  ['delete', scripts.deleteCount],
])(
  'a %s for one round does nothing in a later round or while the latch is open',
  async (_, script) => {
    const setUs = async () => Number(await admin.get(ROUND))
    await setCount(2)
    const first = await setUs()
    await deleteCount()
    const over = ['over', '', expect.stringMatching(/^\d{16}$/)]
    expect(await once(script, { ownRound: first })).toEqual(over)
    expect(await admin.exists(LOCK)).toBe(0)
    await setCount(2)
    const second = await setUs()
    expect(await once(script, { ownRound: first, id: 'a' })).toEqual(['over', `${second}`, over[2]])
    expect((await look())[0]).toBe(2)
    expect((await once(script, { ownRound: second }))[0]).not.toBe('over')
    expect((await look())[0]).toBeLessThan(2)
  },
)

test('a count-down for a given round counts even if it was requested before that round began', async () => {
  const askedUs = await nowUs()
  await setCount(2)
  const ownRound = Number(await admin.get(ROUND))
  expect(await countDown({ askedUs, ownRound })).toEqual(['counted', 1])
})

test('a count-down for a round is refused if the key of the round, or the count, is gone', async () => {
  await setCount(2)
  const ownRound = Number(await admin.get(ROUND))
  await admin.del(ROUND)
  expect((await countDown({ ownRound }))[0]).toBe('over')
  // When Redisson counts down to zero, it leaves these keys.
  await admin.set(ROUND, String(ownRound))
  await admin.del(LOCK)
  expect((await countDown({ ownRound }))[0]).toBe('over')
})

test('a count-down, its repeat, a look and an inspection report the round', async () => {
  await setCount(3)
  const round = await admin.get(ROUND)
  const count = (id: string) => once(scripts.countDown, { id })
  expect(await count('a')).toEqual(['counted', 2, round])
  const args = { channel: CHANNEL, publish: 'PUBLISH' }
  expect(await run(scripts.inspectLatch, args)).toEqual([2, 0, round])
  expect(await run(scripts.lookAtLatch, {})).toEqual([2, round, expect.stringMatching(/^\d{16}$/)])
  await deleteCount()
  await setCount(9)
  expect(await count('a')).toEqual(['counted', '2', round])
  await deleteCount()
  expect(await run(scripts.inspectLatch, args)).toEqual([0, 0, ''])
  expect(await count('b')).toEqual(['counted', 0, ''])
})

test('the key of a round expires after 30 days, in case Redisson opens the latch', async () => {
  await setCount(3)
  const days = (await admin.pttl(ROUND)) / 86_400_000
  expect(days).toBeGreaterThan(29.9)
  expect(days).toBeLessThanOrEqual(30)
})

test('a count-down counts in a round whose start lies in the future because the clock was set back', async () => {
  const askedUs = await nowUs()
  await setCount(2)
  await admin.set(ROUND, String(askedUs + 60_000_000))
  expect(await countDown({ askedUs })).toEqual(['counted', 1])
})

test.each([
  ['count-down', () => setCount(2), countDown],
  ['delete', () => setCount(2), deleteCount],
  ['count', async () => undefined, (args?: Arguments) => setCount(9, args)],
])('a %s that comes too late is refused, and changes nothing', async (_, prepare, ask) => {
  await prepare()
  const before = await state()
  const late = ['forgotten', expect.stringMatching(/^\d{16}$/)]
  expect(await ask({ untilUs: await notAfter(-5, 0) })).toEqual(late)
  // The clock was set back after the request.
  expect(await ask({ untilUs: await notAfter(3_000, 10) })).toEqual(late)
  expect(await state()).toEqual(before)
  const answer = await ask({ untilUs: await notAfter(60_000, 0), id: 'in time' })
  expect(answer[0]).not.toBe('forgotten')
})

test('a repeat that is too late to run still gets its first answer', async () => {
  await setCount(2)
  await countDown({ id: 'a', untilUs: await notAfter(60_000, 0) })
  expect(await countDown({ id: 'a', untilUs: await notAfter(-5, 0) })).toEqual(['counted', '1'])
})

test('the answer to a request is kept slightly longer than the request may run', async () => {
  await setCount(5)
  await countDown({ id: 'a', untilUs: await notAfter(20_000, 0) })
  const leftMs = await admin.pttl(requestOf('a'))
  expect(leftMs).toBeGreaterThan(19_000)
  expect(leftMs).toBeLessThanOrEqual(21_002)
  await countDown({ id: 'b' })
  expect(await admin.pttl(requestOf('b'))).toBeLessThanOrEqual(91_001)
  await countDown({ id: 'c', untilUs: await notAfter(50, 0) })
  await eventually(async () => (await admin.exists(requestOf('c'))) === 0)
})

test('a key of another type is refused, and stays as it is', async () => {
  const all = [() => setCount(1), countDown, deleteCount, look]
  for (const ask of all) {
    await admin.del(LOCK)
    await admin.hset(LOCK, 'c:1', 1)
    await expect(ask()).rejects.toThrow('WRONGTYPE')
    await admin.set(LOCK, 'a text')
    await expect(ask()).rejects.toThrow('WRONGTYPE')
  }
  expect(await admin.keys('*')).toEqual([LOCK])
})

test('a full server accepts count-downs, and refuses new counts', async () => {
  await setCount(3)
  await server.admin.config('SET', 'maxmemory', '1')
  try {
    expect(await countDown()).toEqual(['counted', 2])
    expect(await countDown()).toEqual(['counted', 1])
    expect(await countDown()).toEqual(['counted', 0])
    await expect(setCount(1)).rejects.toThrow('OOM')
  } finally {
    await server.admin.config('SET', 'maxmemory', '0')
  }
  expect(await admin.exists(LOCK, ROUND)).toBe(0)
})
