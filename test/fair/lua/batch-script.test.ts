import {
  admin,
  CHANNEL,
  COUNTER,
  COUNTER_MS,
  fields,
  JAVA_QUEUE,
  JAVA_TIMEOUTS,
  LOCK,
  NEVER,
  QUEUE,
  server,
  type Value,
  WAITING,
} from '../../lua/run-script.ts'
import * as scripts from '../../support/scripts.ts'
import {
  ALIVE_MS,
  acquire,
  CLAIM_MS,
  contents,
  given,
  INBOX,
  LEASE_MS,
  listen,
  mark,
  NOW,
  queued,
  release,
  TOKEN,
  timed,
  waiting,
} from './run-fair.ts'

/** Several calls of `fair/acquire` and `fair/release` in one request. */
afterEach(() => server.flush())

const FOUR = [LOCK, COUNTER, QUEUE, WAITING]
const SIX = [...FOUR, JAVA_QUEUE, JAVA_TIMEOUTS]

interface Call {
  readonly letter: 'a' | 'r'
  readonly keys: readonly string[]
  readonly own: readonly Value[]
}

const acquires = (owner: string, ticket: Value = '', keys: readonly string[] = FOUR): Call => ({
  letter: 'a',
  keys,
  own: [owner, LEASE_MS, ticket, 1, 'shop'],
})

const releases = (owner: string, token: Value, served: readonly string[] = []): Call => ({
  letter: 'r',
  keys: SIX,
  own: [owner, token, 63, ...served],
})

function batch(calls: readonly Call[], notAfterUs: Value = NEVER): Promise<unknown[]> {
  const keys = calls.flatMap((call) => call.keys)
  const kinds = calls.map(({ letter, own }) => letter + own.length).join('')
  const common = [notAfterUs, COUNTER_MS, CLAIM_MS, ALIVE_MS, INBOX, 'PUBLISH']
  const own = calls.flatMap((call) => call.own)
  const { source } = timed(scripts.batchFair)
  return admin.eval(source, keys.length, ...keys, ...common, kinds, ...own) as Promise<unknown[]>
}

test('waiters of one request get consecutive places, in the order of the calls', async () => {
  await given({ holder: 'h:1' })
  const answers = await batch(['a:3', 'a:1', 'a:2'].map((owner) => acquires(owner)))
  expect(answers.map((answer) => (answer as Value[]).slice(0, 2))).toEqual(
    [0, 1, 2].map((n) => ['queued', String(NOW + n)]),
  )
  expect(answers.map((answer) => (answer as Value[])[7])).toEqual([1, 2, 3])
  expect(await queued()).toEqual(['a:3', 'a:1', 'a:2'])
  expect(await waiting()).toEqual({ a: mark(0) })
})

test('a free lock is the token alone, and the next calls of the request queue', async () => {
  const [token, second] = await batch([acquires('a:1'), acquires('a:2')])
  expect(token).toBe(String(NOW))
  expect((second as Value[]).slice(0, 3)).toEqual(['queued', String(NOW), String(NOW)])
  expect(await fields()).toEqual({ 'a:1': '1' })
})

test('a release is the number of listeners alone, and grants nothing to a later call', async () => {
  await given({ holder: 'h:1' })
  const channel = await listen(CHANNEL)
  expect(await batch([releases('h:1', TOKEN), acquires('a:1')])).toEqual([1, String(NOW)])
  expect(await channel.heard()).toEqual([[CHANNEL, '0']])
})

test('a release grants the lock to an earlier call of the same request, with a run', async () => {
  await given({ holder: 'a:9' })
  const calls = [acquires('a:1'), acquires('a:2'), acquires('a:3'), releases('a:9', TOKEN)]
  expect((await batch(calls))[3]).toEqual(['run', 'a:1', String(NOW + 2), 'a:2 a:3'])
  expect(await fields()).toEqual({ 'a:1': '1' })
  expect(await queued()).toEqual(['a:2', 'a:3'])
})

test('a release removes all served owners that its call lists, and no owner of the next call', async () => {
  await given({ holder: 'h:1', queue: ['h:2', 'h:3', 'h:4', 'a:1'], waiting: { a: mark(0) } })
  const answers = await batch([releases('h:1', TOKEN, ['h:2', 'h:3', 'h:4']), acquires('h:5')])
  expect(answers[0]).toEqual(['granted', 'a:1', String(NOW)])
  expect((answers[1] as Value[])[0]).toBe('queued')
  expect(await queued()).toEqual(['h:5'])
})

test('each call answers and writes as its own script does', async () => {
  const scene = () =>
    given({ holder: 'h:1', queue: ['b:1', 'b:2', 'a:1'], waiting: { b: mark(0), a: mark(0) } })
  const shape = (answer: unknown) =>
    Array.isArray(answer) ? answer.map((one, i) => (i === 3 ? 'ttlMs' : one)) : answer
  await scene()
  const together = await batch([acquires('a:2'), releases('h:1', TOKEN), acquires('c:1')])
  const then = await contents()
  await server.flush()
  await scene()
  const alone = [await acquire({ owner: 'a:2' }), await release({ most: 63 })]
  alone.push(await acquire({ owner: 'c:1' }))
  // All calls of a batch see the same time. The time of this test stands still, too.
  expect(together.map(shape)).toEqual(alone.map(shape))
  expect(then).toEqual(await contents())
})

test('a request that runs twice gives the same places, and releases once', async () => {
  await given({ holder: 'h:1' })
  const calls = [acquires('a:1'), acquires('a:2'), releases('h:1', TOKEN)]
  await batch(calls)
  const then = await contents()
  const [first, second, third] = await batch(calls)
  expect(first).toBe(String(NOW))
  expect((second as Value[])[0]).toBe('queued')
  expect(third).toEqual(['gone'])
  expect((await contents())[QUEUE]).toEqual(then[QUEUE])
})

test('an error of one call does not affect the others', async () => {
  await admin.set('other', 'precious')
  const others = ['other', ...FOUR.slice(1).map((key) => key.replace('it', 'other'))]
  const [first, second, third] = await batch([
    acquires('a:1'),
    acquires('a:2', '', others),
    acquires('a:3'),
  ])
  expect(first).toBe(String(NOW))
  expect(second).toEqual(['error', expect.stringContaining('WRONGTYPE')])
  expect((third as Value[])[0]).toBe('queued')
  expect(await admin.get('other')).toBe('precious')
})

test('a late request acquires nothing, and still releases', async () => {
  await given({ holder: 'h:1' })
  const late = `${NOW - 1_000_000}`.replace(/\d{3}$/, '000')
  const [first, second] = await batch([acquires('a:1'), releases('h:1', TOKEN)], late)
  expect(first).toEqual(['late', String(NOW)])
  expect(second).toBe(0)
  expect(await contents()).toEqual({ [COUNTER]: String(TOKEN) })
})

test('a release finds the channel of a lock with a tag in its name', async () => {
  const name = '{tag} it'
  const keys = SIX.map((key) => (key === LOCK ? name : key.replace('{it}', name)))
  await admin.hset(name, 'h:1', 1)
  const channel = await listen(`redisson_lock__channel:${name}`)
  expect(await batch([{ ...releases('h:1', ''), keys }, acquires('a:1')])).toEqual([1, String(NOW)])
  expect(await channel.heard()).toHaveLength(1)
})
