import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { Holdfast, type HoldfastLock, type HoldfastOptions, type Lease } from '../../src/index.ts'
import { frameStorage } from '../../src/kit/frame-storage.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'
import { catchWarnings } from '../support/warnings.ts'

const server = sharedServer()

function newClient(options: Omit<HoldfastOptions, 'redis'> = {}): Holdfast {
  const client = new Holdfast({ redis: server.url, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

// On Node.js 20, each AsyncLocalStorage that was ever used slows down all promises of the process forever.
test('any number of clients share one AsyncLocalStorage', async () => {
  const runs = jest.spyOn(AsyncLocalStorage.prototype, 'run')
  for (let i = 0; i < 3; i++) {
    const client = new Holdfast({ redis: { port: 1, lazyConnect: true } })
    expect(client.run(() => i)).toBe(i)
    await client.close()
  }
  expect(runs).toHaveBeenCalledTimes(3)
  expect(new Set(runs.mock.contexts).size).toBe(1)
})

test('a server that a leader started never has two requests in one critical section', async () => {
  const client = newClient()
  const answers = await client.getLock('leader').using(async () => {
    const inside = [0, 0]
    let letGo = () => {}
    const othersAreAnswered = new Promise<void>((go) => {
      letGo = go
    })
    const http = createServer(async (request, response) => {
      const lease = await client.getLock(`order:${request.url}`).tryLock()
      if (lease === null) {
        response.writeHead(409, { connection: 'close' }).end()
        return
      }
      inside[0] = (inside[0] ?? 0) + 1
      inside[1] = Math.max(inside[1] ?? 0, inside[0])
      await othersAreAnswered
      inside[0] -= 1
      await lease.release()
      response.writeHead(200, { connection: 'close' }).end()
    })
    await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
    const { port } = http.address() as AddressInfo
    const ship = async () => (await fetch(`http://127.0.0.1:${port}/1001`)).status
    const first = ship()
    await eventually(() => inside[0] === 1)
    const others = await Promise.all([ship(), ship()])
    letGo()
    const statuses = [await first, ...others]
    await new Promise((closed) => http.close(closed))
    return { statuses, most: inside[1] }
  })
  expect(answers).toEqual({ statuses: [200, 409, 409], most: 1 })
})

describe('run()', () => {
  test('returns what its function returns, without a promise if the function is synchronous', async () => {
    const client = newClient()
    const failed = new Error('of the work')
    expect(client.run(() => 1)).toBe(1)
    expect(client.run(() => null)).toBeNull()
    await expect(client.run(async () => 2)).resolves.toBe(2)
    await expect(client.run(() => Promise.reject(failed))).rejects.toBe(failed)
  })
})

test('nested frames are forgotten when they end', async () => {
  const client = newClient()
  let longest = 0
  // Each frame begins while the two frames before it continue.
  const next = (depth: number, ending: (() => void)[]): Promise<unknown> =>
    client.run(() => {
      const { promise, resolve } = deferred<void>()
      ending.push(resolve)
      if (ending.length > 2) ending.shift()?.()
      let length = 0
      type Outer = { outer?: Outer } | undefined
      for (let frame = frameStorage.getStore() as Outer; frame; frame = frame.outer) length += 1
      longest = Math.max(longest, length)
      if (depth > 0) setTimeout(() => (all[depth] = next(depth - 1, ending)))
      else for (const end of ending) end()
      return promise
    })
  const all: Promise<unknown>[] = []
  await next(100, [])
  await eventually(() => all[1] !== undefined)
  await Promise.all(all)
  expect(longest).toBeGreaterThan(1)
  expect(longest).toBeLessThan(6)
})

describe('the warning of code that waits for itself', () => {
  const warnings = catchWarnings()

  /** The acquisitions outside, and the nested call that waits for each of them. */
  const nests: [
    string,
    (lock: HoldfastLock, again: HoldfastLock, signal: AbortSignal) => unknown,
  ][] = [
    ['one lock object', (lock, _, signal) => lock.lock({ signal })],
    ['another lock object', (_, again, signal) => again.lock({ signal })],
    ['using()', (_, again, signal) => again.using(() => {}, { signal })],
  ]

  test.each(nests)('is emitted inside `using()` of another lock: %s', async (_, nested) => {
    const client = newClient()
    const abort = new AbortController()
    await client.getLock('other').using(async () => {
      const [lock, again] = [client.getLock('it'), client.getLock('it')]
      const lease = await lock.lock()
      const waiting = Promise.allSettled([nested(lock, again, abort.signal)])
      await eventually(() => warnings.length > 0)
      abort.abort()
      await waiting
      await lease.release()
    })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]?.code).toBe('HOLDFAST_SELF_WAIT')
    expect(warnings[0]?.message).toMatch(/"it".*using\(fn\) of this lock.*run\(fn\)/)
  })

  test('is emitted once for a frame, and not for a lock that another frame holds', async () => {
    const client = newClient()
    const abort = new AbortController()
    const { signal } = abort
    await client.getLock('other').using(async () => {
      const lease = await client.getLock('it').lock()
      const waiting = [1, 2, 3].map(() => client.getLock('it').lock({ signal }))
      await eventually(() => warnings.length > 0)
      const outside = await client.run(() => client.getLock('third').lock())
      waiting.push(client.getLock('third').lock({ signal }))
      await never(() => warnings.length > 1, 700)
      abort.abort()
      await Promise.allSettled(waiting)
      await Promise.all([lease, outside].map((one: Lease) => one.release()))
    })
  })
})

describe('a listener runs in no frame', () => {
  /** The frame in which a listener ran. Inside a frame, a bare lock would belong to the owner of the frame. */
  const frames: Record<string, unknown> = {}
  const note = (what: string) => () => {
    frames[what] = frameStorage.getStore() ?? null
  }
  beforeEach(() => {
    for (const name of Object.keys(frames)) delete frames[name]
  })

  test('for any event, even when a frame opened the connection or the timer', async () => {
    const client = newClient({ leaseMs: 3_000 })
    for (const event of ['acquired', 'released', 'wait', 'renewed', 'lost'] as const) {
      client.on(event, note(event))
    }
    await client.run(() =>
      client.getLock('it').using(async () => {
        const waiting = client.getLock('it', { owner: client.owner() }).tryLock(50)
        await eventually(() => 'renewed' in frames)
        await waiting
        await client.getLock('short').lock(100)
        await eventually(() => 'lost' in frames)
      }),
    )
    expect(frames).toEqual({
      acquired: null,
      released: null,
      wait: null,
      renewed: null,
      lost: null,
    })
  })

  test('for an error of a connection that a frame opened', async () => {
    const client = new Holdfast({ redis: { port: 1 }, outageMs: 50, commandTimeoutMs: 100 })
    atEnd(() => client.close(), { beforeCheck: true })
    client.on('error', note('error'))
    await client.run(() =>
      client
        .getLock('it')
        .lock()
        .catch(() => {}),
    )
    await eventually(() => 'error' in frames)
    expect(frames).toEqual({ error: null })
  })

  test('for the signal of a lease that the clock or `forceUnlock()` aborts', async () => {
    const client = newClient()
    await client.run(async () => {
      const lease = await client.getLock('it').lock(2_000)
      const group = await client.getMultiLock(client.getLock('b'), client.getLock('c')).lock(2_000)
      lease.signal.addEventListener('abort', note('lease'))
      group.signal.addEventListener('abort', note('group'))
      await eventually(() => 'lease' in frames && 'group' in frames)
      const forced = await client.getLock('d').lock()
      forced.signal.addEventListener('abort', note('forced'))
      await client.getLock('d').forceUnlock()
    })
    expect(frames).toEqual({ lease: null, group: null, forced: null })
  })

  test('a connection that a frame opened keeps no frame', async () => {
    const client = newClient()
    const sockets: unknown[] = []
    const connect = jest.spyOn(Socket.prototype, 'connect').mockImplementation(function (
      this: Socket,
      ...args: unknown[]
    ) {
      sockets.push(frameStorage.getStore() ?? null)
      connect.mockRestore()
      return Reflect.apply(this.connect, this, args) as Socket
    })
    await client.run(async () => (await client.getLock('it').lock()).release())
    expect(sockets).toEqual([null])
  })
})
