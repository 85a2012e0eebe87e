import { spawnSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Holdfast, type HoldfastLock, InvalidArgumentError } from '../../src/index.ts'
import { whenUp } from '../../src/servers/redis/thread/start-worker.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()
const folder = mkdtempSync(join(tmpdir(), 'holdfast-thread-'))
const errors: Error[] = []
let client: Holdfast | undefined

afterAll(() => rmSync(folder, { recursive: true }))

afterEach(async () => {
  await client?.close()
  expect(errors.splice(0)).toEqual([])
  await server.flush()
})

/** Returns a client whose watchdog thread runs this program. */
function clientWith(name: string, program?: string): Holdfast {
  const file = join(folder, name)
  if (program !== undefined) writeFileSync(file, program)
  client = new Holdfast({ redis: server.url, watchdogThread: { workerUrl: file } })
  client.on('error', (error) => errors.push(error))
  return client
}

const built = pathToFileURL(
  resolve(__dirname, '../../dist/esm/src/servers/redis/thread/renewal-worker.js'),
)

describe('a watchdog thread that cannot start', () => {
  const forms: [string, (lock: HoldfastLock, of: Holdfast) => Promise<unknown>][] = [
    ['lock()', (lock) => lock.lock()],
    ['tryLock()', (lock) => lock.tryLock()],
    ['tryLock(waitMs)', (lock) => lock.tryLock(5_000)],
    ['using()', (lock) => lock.using(() => undefined)],
    ['a fair lock', (lock, of) => of.getFairLock(lock.name).lock()],
    ['several locks', (lock, of) => of.getMultiLock(lock, of.getLock('other')).lock()],
  ]

  test.each(forms)('%s rejects, says what to do, and leaves nothing behind', async (_, acquire) => {
    const of = clientWith('missing.mjs')
    const failed = acquire(of.getLock('it'), of)
    await expect(failed).rejects.toThrow(InvalidArgumentError)
    await expect(failed).rejects.toThrow(/missing\.mjs.*holdfast\/renewal-worker.*workerUrl/)
    expect(await lastingKeys(server.admin)).toEqual([])
  })

  test('locks that the thread does not renew are acquired', async () => {
    const of = clientWith('missing.mjs')
    await (await of.getLock('fixed').lock(5_000)).release()
    await of
      .getReadWriteLock('read')
      .readLock()
      .using(() => undefined)
  })

  test('the error contains the words of a program that fails or ends', async () => {
    await expect(
      clientWith('throws.mjs', 'throw new Error("no ioredis")').getLock('it').lock(),
    ).rejects.toThrow(/no ioredis/)
    await client?.close()
    await expect(clientWith('ends.mjs', '').getLock('it').lock()).rejects.toThrow(/it has ended/)
  })

  test('the thread is started again for the next lock', async () => {
    const of = clientWith('later.mjs')
    await expect(of.getLock('it').lock()).rejects.toThrow(InvalidArgumentError)
    writeFileSync(join(folder, 'later.mjs'), `import '${built}'`)
    await (await of.getLock('it').lock()).release()
  })
})

describe('a watchdog thread that is starting', () => {
  const silent = 'setInterval(() => undefined, 1_000)'

  test('a wait ends by its time, its signal and `close()`, and a silent program is given up', async () => {
    const of = clientWith('silent.mjs', silent)
    const lock = of.getLock('it')
    const given = lock.lock()
    given.catch(() => undefined)
    // No client holds the lock, so the answer is not that another client holds it.
    await expect(lock.tryLock(100)).rejects.toThrow(
      /not acquired within 100 ms.*the watchdog thread had not been started yet/,
    )
    await expect(lock.lock({ waitMs: 100 })).rejects.toMatchObject({
      code: 'HOLDFAST_UNAVAILABLE',
    })
    const signal = AbortSignal.timeout(100)
    await expect(lock.lock({ signal })).rejects.toBe(await aborted(signal))
    await expect(given).rejects.toThrow(/did not report within 10000 ms that it was loaded/)
    const last = lock.lock()
    const closing = of.close()
    await expect(last).rejects.toMatchObject({ code: 'HOLDFAST_CLOSED' })
    await closing
    expect(await lastingKeys(server.admin)).toEqual([])
  })
})

test('a program that reported while this thread was blocked for too long is kept', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance', 'Date'] })
  try {
    const terminate = jest.fn()
    const worker = Object.assign(new EventEmitter(), { terminate })
    const up = whenUp(worker as never)
    jest.advanceTimersByTime(10_000)
    worker.emit('message', { kind: 'up' })
    await up
    await turn()
    await turn()
    expect(terminate).not.toHaveBeenCalled()
  } finally {
    jest.useRealTimers()
  }
})

test('the program of the thread says what it is when it is run directly', () => {
  const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(built)], {
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringContaining('give its file as `workerUrl`'),
  })
})

test.each([
  ['./worker.js', '"./worker.js"'],
  ['https://example.com/worker.js', '"https://example.com/worker.js"'],
  [new URL('data:text/javascript,1'), 'an object (URL)'],
  [7, 'got 7'],
])('`workerUrl` is refused: %s', (workerUrl, words) => {
  const make = () => new Holdfast({ redis: server.url, watchdogThread: { workerUrl } } as never)
  expect(make).toThrow(InvalidArgumentError)
  expect(make).toThrow(words)
})

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason)
    else signal.addEventListener('abort', () => resolve(signal.reason))
  })
}
