import { Holdfast } from '../../src/index.ts'
import { type Child, startChild } from '../support/children.ts'
import { eventually, never } from '../support/eventually.ts'
import { forward } from '../support/forward.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import { freePort } from '../support/ports.ts'
import { sharedServer } from '../support/redis-server.ts'
import { takes } from '../support/takes.ts'

const server = sharedServer()
const admin = forward(() => server.admin)

const run = (scenario: string, port = server.port): Child =>
  startChild('test/process/fixtures/program.mjs', { args: [String(port), scenario] })

/** Waits until the program ends by itself, in order and in time. Returns its messages. */
async function endsByItself(child: Child): Promise<unknown[]> {
  await eventually(() => !child.running, {
    timeoutMs: 10_000,
    message: `the end of the program, which said ${JSON.stringify(child.all)} ${child.errors}`,
  })
  expect(child.errors).toBe('')
  expect(await child.exited).toEqual({ code: 0, signal: null })
  await eventually(() => child.all.at(-1) === 'done')
  return child.all.slice(0, -1)
}

/** Another client holds this lock for the whole test. */
async function taken(): Promise<void> {
  const client = new Holdfast({ redis: { port: server.port } })
  atEnd(() => client.close(), { beforeCheck: true })
  await client.getLock('taken').lock()
}

describe('a program that is done ends by itself', () => {
  test.each(['idle', 'using', 'released', 'closed', 'held and closed'])('%s', async (scenario) => {
    expect(await endsByItself(run(scenario))).toEqual([])
    expect(await admin.exists('it')).toBe(0)
  })

  test('drained: the drain keeps the program alive although nothing else is in progress', async () => {
    expect(await endsByItself(run('drained'))).toEqual([{ cutOff: 1 }])
    expect(await admin.exists('it')).toBe(0)
  })

  test.each(['held', 'held with a fixed lease'])(
    '%s, and then the lock ends with its lease',
    async (scenario) => {
      expect(await endsByItself(run(scenario))).toEqual([])
      expect(await admin.pttl('it')).toBeGreaterThan(0)
      leaves({ keys: true, why: 'the program ended without a release' })
    },
  )

  test.each([
    ['refused the lock', { got: null }],
    ['aborted its wait', { reason: 'TimeoutError' }],
    ['closed while it waited', { code: 'HOLDFAST_CLOSED' }],
  ])('%s', async (scenario, word) => {
    await taken()
    expect(await endsByItself(run(scenario))).toEqual([word])
    await eventually(async () => ((await admin.pubsub('CHANNELS')) as string[]).length === 0)
  })

  test('although it listens for a lock that becomes free', async () => {
    await taken()
    expect(await endsByItself(run('listening for a free lock'))).toEqual([])
  })

  test.each(['outage', 'outage, closed'])('%s, with a closed port', async (scenario) => {
    const child = run(scenario, await freePort())
    expect(await endsByItself(child)).toEqual([{ code: 'HOLDFAST_UNAVAILABLE' }])
  })
})

describe('a program that waits for a lock', () => {
  test('stays until it has the lock', async () => {
    const client = new Holdfast({ redis: { port: server.port } })
    atEnd(() => client.close(), { beforeCheck: true })
    const lease = await client.getLock('taken').lock()
    const child = run('waiting')
    await eventually(async () => (await client.getLock('taken').inspect()).waiters === 1)
    await never(() => !child.running, 700)
    await lease.release()
    await endsByItself(child)
    leaves({ keys: true, why: 'the program ended without a release' })
  })

  test('stays until the lock is free with `whenFree()`, and then ends', async () => {
    const client = new Holdfast({ redis: { port: server.port } })
    atEnd(() => client.close(), { beforeCheck: true })
    const lease = await client.getLock('taken').lock()
    const child = run('waiting until it is free')
    await eventually(async () => (await client.getLock('taken').inspect()).waiters === 1)
    await never(() => !child.running, 700)
    await lease.release()
    expect(await endsByItself(child)).toEqual([{ free: true }])
  })

  test('receives a warning of Node if it holds the lock itself', async () => {
    const child = run('waiting for itself')
    expect(await child.next((message) => typeof message === 'object')).toEqual({
      name: 'HoldfastWarning',
      code: 'HOLDFAST_SELF_WAIT',
    })
    expect(child.running).toBe(true)
    await child.stop()
    leaves({ keys: true, why: 'the program was killed' })
  })
})

describe('a holder that is killed', () => {
  test.each([
    ['fixed', 700],
    ['watched', 700],
  ])(
    'with a %s lease blocks other clients until the lease ends, and no longer',
    async (kind, leaseMs) => {
      const client = new Holdfast({ redis: { port: server.port } })
      atEnd(() => client.close(), { beforeCheck: true })
      const args = [String(server.port), String(leaseMs), kind]
      const child = startChild('test/process/fixtures/holder.mjs', { args })
      const { token } = await child.next<{ token: number }>(
        (message) => typeof message === 'object',
      )
      child.kill('SIGKILL')
      await child.exited
      const lookedAt = performance.now()
      const ttl = await admin.pttl('it')
      const lease = await takes({ atMost: leaseMs + 2_000 }, client.getLock('it').lock())
      expect(performance.now() - lookedAt).toBeGreaterThan(ttl - 50)
      expect(lease.token).toBeGreaterThan(token)
      await lease.release()
    },
  )
})

test('two processes that want one lock all the time each get a share', async () => {
  const hammers = [1, 2].map(() =>
    startChild('test/process/fixtures/hammer.mjs', { args: [String(server.port)] }),
  )
  for (const hammer of hammers) await hammer.next()
  for (const hammer of hammers) hammer.send({ forMs: 1_500, tasks: 8 })
  const got = await Promise.all(
    hammers.map(async (hammer) => (await hammer.next<{ tokens: number[] }>()).tokens),
  )
  const all = got.flat()
  expect(new Set(all).size).toBe(all.length)
  for (const tokens of got) {
    expect(tokens).toEqual([...tokens].sort((a, b) => a - b))
    // Compares only the time in which both programs were running.
    const both = Math.min(...got.map((each) => Number(each.at(-1))))
    const since = Math.max(...got.map((each) => Number(each[0])))
    const inThat = (each: number[]) => each.filter((token) => token >= since && token <= both)
    const share = inThat(tokens).length / inThat(all).length
    expect(share).toBeGreaterThan(0.1)
  }
  expect(all.length).toBeGreaterThan(50)
})
