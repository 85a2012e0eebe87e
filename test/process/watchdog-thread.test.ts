import { resolve } from 'node:path'
import { Holdfast } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { startChild } from '../support/children.ts'
import { eventually, never } from '../support/eventually.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()

function startBlockable(options: Record<string, unknown>) {
  const file = resolve(__dirname, 'fixtures/blocked.mjs')
  return startChild(file, { args: [JSON.stringify({ url: server.url, options })] })
}

/** Waits until the thread has its own connection, and so can renew leases. */
async function workerIsUp(): Promise<void> {
  await eventually(async () => {
    const clients = String(await server.admin.client('LIST'))
      .trim()
      .split('\n')
    return clients.length === 3 && clients.some((one) => one.includes(' cmd=time '))
  })
}

async function lockIn(
  child: ReturnType<typeof startBlockable>,
  name: string,
  how?: object,
): Promise<number> {
  child.send({ command: 'lock', name, how })
  return (await child.next<{ locked: number }>((said) => 'locked' in said)).locked
}

async function closeIn(child: ReturnType<typeof startBlockable>): Promise<void> {
  child.send({ command: 'close' })
  await child.next<object>((said) => 'closed' in said)
}

interface AfterBlock {
  blocked: number
  valid: boolean
  aborted: boolean
}

const afterBlock = (said: object) => 'blocked' in said

describe('a watchdog with a thread', () => {
  it('keeps a lock with a lease of 1 s through 3 s of synchronous work', async () => {
    const child = startBlockable({ leaseMs: scaledMs(1_000), watchdogThread: true })
    await lockIn(child, 'through')
    await workerIsUp()
    child.send({ command: 'block', ms: scaledMs(3_000) })
    await never(async () => (await server.admin.exists('through')) === 0, scaledMs(2_800))
    const said = await child.next<AfterBlock>(afterBlock)
    expect(said).toMatchObject({ valid: true, aborted: false })
    child.send({ command: 'release' })
    expect(await child.next<object>((one) => 'released' in one)).toEqual({ released: true })
    expect(await server.admin.exists('through')).toBe(0)
    await closeIn(child)
  })

  it('keeps a lock with a shorter renewed lease of its own', async () => {
    const child = startBlockable({ leaseMs: scaledMs(60_000), watchdogThread: true })
    await lockIn(child, 'own lease', { leaseMs: scaledMs(1_000), renew: true })
    await workerIsUp()
    child.send({ command: 'block', ms: scaledMs(2_200) })
    const isOver = async () => {
      const leftMs = await server.admin.pttl('own lease')
      return leftMs <= 0 || leftMs > scaledMs(1_000)
    }
    await never(isOver, scaledMs(2_000))
    expect(await child.next<AfterBlock>(afterBlock)).toMatchObject({ valid: true, aborted: false })
    await closeIn(child)
  })

  it('renews a lock up to its `maxHoldMs`, and the lease has ended when the main thread continues', async () => {
    const child = startBlockable({ leaseMs: scaledMs(900), watchdogThread: true })
    await lockIn(child, 'limited', { maxHoldMs: scaledMs(2_400) })
    const endsAt = performance.now() + scaledMs(2_400)
    await workerIsUp()
    child.send({ command: 'block', ms: scaledMs(3_600) })
    const blockedAt = performance.now()
    let lastAt = 0
    let seenAt = 0
    await eventually(async () => {
      const lookedAt = performance.now()
      const leftMs = await server.admin.pttl('limited')
      if (leftMs > 0) {
        seenAt = lookedAt
        lastAt = lookedAt + leftMs
      }
      return leftMs === -2
    })
    // By then, the main thread alone would have lost the lease.
    expect(seenAt).toBeGreaterThan(blockedAt + scaledMs(1_000))
    // The last renewal takes some time to reach the server.
    expect(lastAt).toBeLessThan(endsAt + scaledMs(500))
    expect(await child.next<AfterBlock>(afterBlock)).toMatchObject({ valid: false, aborted: true })
    await closeIn(child)
  })

  it('renews the lease of a leader whose function continues up to its `maxDrainMs`', async () => {
    const child = startBlockable({ leaseMs: scaledMs(900), watchdogThread: true })
    child.send({ command: 'lead', name: 'led', how: { maxDrainMs: scaledMs(2_400) } })
    await child.next<object>((said) => 'locked' in said)
    const endsAt = performance.now() + scaledMs(2_400)
    await workerIsUp()
    child.send({ command: 'block', ms: scaledMs(3_600) })
    const blockedAt = performance.now()
    let seenAt = 0
    await eventually(async () => {
      const lookedAt = performance.now()
      const leftMs = await server.admin.pttl('led')
      if (leftMs > 0) seenAt = lookedAt
      return leftMs === -2
    })
    // By then, the main thread alone would have lost the lease.
    expect(seenAt).toBeGreaterThan(blockedAt + scaledMs(1_000))
    expect(seenAt).toBeLessThan(endsAt + scaledMs(500))
    await child.next<AfterBlock>(afterBlock)
    await closeIn(child)
  })

  it('gives the lock up when the main thread has been silent for the limit', async () => {
    const child = startBlockable({
      leaseMs: scaledMs(800),
      watchdogThread: { silenceLimitMs: scaledMs(1_500) },
    })
    await lockIn(child, 'silent')
    await workerIsUp()
    child.send({ command: 'block', ms: scaledMs(3_500) })
    await never(async () => (await server.admin.exists('silent')) === 0, scaledMs(1_000))
    await eventually(async () => (await server.admin.exists('silent')) === 0, {
      timeoutMs: scaledMs(2_200),
      followsLoad: false,
      message: 'the lock to end before the main thread is back',
    })
    const said = await child.next<AfterBlock>(afterBlock)
    expect(said).toMatchObject({ valid: false, aborted: true })
    await closeIn(child)
  })

  it('does not renew a released lock', async () => {
    const child = startBlockable({ leaseMs: scaledMs(1_000), watchdogThread: true })
    await lockIn(child, 'released')
    child.send({ command: 'release' })
    await child.next<object>((one) => 'released' in one)
    const second = await lockIn(child, 'another')
    await workerIsUp()
    child.send({ command: 'block', ms: scaledMs(2_000) })
    await never(async () => (await server.admin.exists('released')) === 1, scaledMs(1_000))
    expect(await child.next<AfterBlock>(afterBlock)).toMatchObject({ valid: true })
    expect(second).toBeGreaterThan(0)
    await closeIn(child)
  })

  it('works in the CommonJS build too', async () => {
    const child = startChild(resolve(__dirname, 'fixtures/commonjs.cjs'), { args: [server.url] })
    expect(await child.next()).toEqual({ valid: true })
    expect((await child.exited).code).toBe(0)
  })

  it('does not keep a finished program alive', async () => {
    const child = startChild(resolve(__dirname, 'fixtures/done.mjs'), { args: [server.url] })
    expect(await child.exited).toEqual({ code: 0, signal: null })
    await server.admin.del('done')
  })

  it('refuses redis options that cannot be copied to a thread', () => {
    const tls = { secureContext: new (class Context {})(), ca: Symbol('ca') }
    const redis = { tls } as object
    expect(() => new Holdfast({ redis, watchdogThread: true })).toThrow(
      /watchdogThread.*copied to a thread/,
    )
  })
})

describe('a watchdog without a thread', () => {
  it('loses the lock while the event loop is blocked, and the first read shows the loss', async () => {
    const child = startBlockable({ leaseMs: 500 })
    await lockIn(child, 'lost')
    child.send({ command: 'block', ms: 1_500 })
    expect(await child.next<AfterBlock>(afterBlock)).toMatchObject({ valid: false, aborted: true })
    expect(await server.admin.exists('lost')).toBe(0)
    await closeIn(child)
  })
})
