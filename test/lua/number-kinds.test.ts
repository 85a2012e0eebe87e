import { leaves } from '../support/leaks.ts'
import * as scripts from '../support/scripts.ts'
import {
  type Arguments,
  admin,
  COUNTER_MS,
  NEVER,
  LOCK as NUMBER,
  run,
  type Script,
  state,
} from './run-script.ts'

const KIND = 'holdfast_kind:{it}'
const DAY_MS = 86_400_000

beforeEach(() => leaves({ keys: true, why: 'what the scripts make is looked at' }))

const TOLD = { channel: 'c', publish: 'PUBLISH', tickets: 't' }
const OTHERS = {
  semaphore: NUMBER,
  request: 'holdfast_request:{it}:r',
  taking: 'holdfast_request:{it}:t',
}

/** The scripts of one kind, each with arguments with which it changes something. */
type Calls = Record<string, (more?: Arguments) => Promise<unknown>>

const call = (script: Script, given: Arguments) => (more: Arguments) => {
  const keys = script.keys.filter((name) => name !== 'answered')
  return run({ ...script, keys }, { ...TOLD, notAfterUs: NEVER, ...given, ...more }, OTHERS)
}

const waiting = {
  ...{ client: '', last: 1, waitedMs: 0, since: '' },
  ...{ behindPermits: 0, behindWaitedMs: 0 },
}
const once = { askedUs: 0, untilUs: 0 }

const latch = {
  set: call(scripts.setCount, { ...once, count: 3 }),
  'count down': call(scripts.countDown, once),
  look: call(scripts.lookAtLatch, {}),
  inspect: call(scripts.inspectLatch, {}),
  delete: call(scripts.deleteCount, once),
} as Calls

const change = (how: string) =>
  call(scripts.setPermits, { how, permits: 3, keptMs: 5_000 }) as Calls[string]

const permits = {
  set: change('set'),
  'try-set': change('try-set'),
  add: change('add'),
  acquire: call(scripts.acquirePermits, {
    ...{ owner: 'c:1:1', leaseMs: 10_000, counterMs: COUNTER_MS, aliveMs: 3_000 },
    ...waiting,
  }),
  release: call(scripts.releasePermits, { owner: 'c:1:1', client: '' }),
  'hand over': call(scripts.handOverPermits, {
    ...{ from: 'c:2:1', owner: 'c:3:1', leaseMs: 10_000, counterMs: COUNTER_MS, aliveMs: 3_000 },
    ...{ ...waiting, client: 'c' },
  }),
  'release ids': call(scripts.releasePermitIds, { keptMs: 5_000, ids: '0'.repeat(32) }),
  inspect: call(scripts.inspectPermits, { most: 10 }),
  drain: change('drain'),
  delete: change('delete'),
} as Calls

const alter = (what: string) =>
  call(scripts.setSemaphore, { what, permits: 3, ttlMs: 0, keptMs: 5_000 }) as Calls[string]

const semaphore = {
  set: alter('set'),
  add: alter('add'),
  acquire: call(scripts.acquireSemaphore, {
    owner: 'c:1:1',
    waitingMs: 3_000,
    keptMs: 5_000,
    ...waiting,
  }),
  'give back': call(scripts.giveBackSemaphore, { client: '', keptMs: 0 }),
  release: call(scripts.releaseSemaphore, { permits: 1, ifExists: '', keptMs: 5_000 }),
  'hand over': call(scripts.handOverSemaphore, {
    ...{ permits: 1, ifExists: '', owner: 'c:3:1', waitingMs: 3_000, keptMs: 5_000 },
    ...{ ...waiting, client: 'c' },
  }),
  leave: call(scripts.leaveSemaphore, { client: 'c' }),
  inspect: call(scripts.inspectSemaphore, { most: 10 }),
  drain: alter('drain'),
  delete: alter('delete'),
} as Calls

const KINDS = { latch, permits, semaphore } as const
type Kind = keyof typeof KINDS

const WORDS: Record<Kind, string> = {
  latch: 'WRONGTYPE a latch has this name',
  permits: 'WRONGTYPE a semaphore with leases has this name',
  semaphore: 'WRONGTYPE a semaphore without leases has this name',
}

const kinds = Object.keys(KINDS) as Kind[]
const pairs = kinds.flatMap((own) =>
  kinds.filter((other) => other !== own).map((other) => [own, other] as const),
)

/** Makes the next request a new request. */
const fresh = () => admin.del('holdfast_request:{it}:r')

test.each(pairs)('a number set by %s is refused by each script of %s', async (own, other) => {
  await KINDS[own].set?.()
  await fresh()
  const before = await state()
  for (const [name, ask] of Object.entries(KINDS[other])) {
    await expect({ [name]: await ask().catch(String) }).toEqual({
      [name]: expect.stringContaining(WORDS[own]),
    })
  }
  expect(await state()).toEqual(before)
})

test.each(kinds)(
  'a number without a note, as Redisson writes it, is accepted by %s',
  async (kind) => {
    for (const [name, ask] of Object.entries(KINDS[kind])) {
      await admin.flushall()
      await admin.set(NUMBER, 3)
      await expect({ [name]: await ask().catch(String) }).toEqual({
        [name]: expect.not.stringContaining('WRONGTYPE'),
      })
    }
  },
)

test.each([
  ['latch', 'set'],
  ['permits', 'set'],
  ['permits', 'try-set'],
  ['permits', 'add'],
  ['semaphore', 'set'],
  ['semaphore', 'add'],
  ['semaphore', 'release'],
  ['semaphore', 'hand over'],
] as const)(
  'a request that sets the number notes the kind, with an expiry: %s by %s',
  async (kind, name) => {
    // The note of another kind does not count if its number is gone.
    await admin.set(KIND, kind === 'latch' ? 'permits' : 'latch')
    await (KINDS[kind] as Calls)[name]?.()
    expect(await admin.get(KIND)).toBe(kind)
    expect(await admin.pttl(KIND)).toBeGreaterThan(6 * DAY_MS)
    expect(await admin.get(NUMBER)).not.toBeNull()
  },
)

test('an acquisition that sets the number notes the kind', async () => {
  await permits.acquire?.({ limit: 3 })
  expect(await admin.get(NUMBER)).toBe('2')
  expect(await admin.get(KIND)).toBe('permits')
  expect(await admin.pttl(KIND)).toBeGreaterThan(6 * DAY_MS)
})

test.each([
  ['latch', 'count down'],
  ['permits', 'acquire'],
  ['permits', 'try-set'],
  ['semaphore', 'acquire'],
  ['semaphore', 'set'],
] as const)('a request that uses the number prolongs the note: %s by %s', async (kind, name) => {
  await KINDS[kind].set?.()
  await fresh()
  await admin.pexpire(KIND, DAY_MS)
  await (KINDS[kind] as Calls)[name]?.()
  expect(await admin.pttl(KIND)).toBeGreaterThan(6 * DAY_MS)
})

test('the note is not written again within a day of the last write', async () => {
  await permits.set?.()
  await admin.pexpire(KIND, 7 * DAY_MS - 3_600_000)
  await permits.acquire?.()
  expect(await admin.pttl(KIND)).toBeLessThanOrEqual(7 * DAY_MS - 3_600_000)
})

test.each(kinds)('a delete of the number deletes the note: delete of %s', async (kind) => {
  await KINDS[kind].set?.()
  await fresh()
  await KINDS[kind].delete?.()
  expect(await admin.exists(NUMBER, KIND)).toBe(0)
})

test('the note is deleted when the latch opens, and any kind may then use the name', async () => {
  await latch.set?.({ count: 1 })
  await fresh()
  await latch['count down']?.()
  expect(await admin.exists(NUMBER, KIND)).toBe(0)
  await fresh()
  await permits.set?.()
  expect(await admin.get(NUMBER)).toBe('3')
})

test('another kind may use the name of a number that is gone, although the note is still there', async () => {
  await latch.set?.()
  await fresh()
  // Redisson or an older version deletes the number like this with the last step.
  await admin.del(NUMBER)
  expect(await permits.inspect?.()).toEqual(expect.arrayContaining([0]))
  await permits.set?.()
  expect(await admin.get(KIND)).toBe('permits')
})

test('a note that no version knows is ignored', async () => {
  await permits.set?.()
  await fresh()
  await admin.set(KIND, 'counter')
  expect(await permits.acquire?.()).toEqual(['granted', expect.anything(), ''])
})
