import { Holdfast, type HoldfastLock, type Lease } from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'
import { takes } from '../support/takes.ts'
import { catchWarnings } from '../support/warnings.ts'

const server = sharedServer()

function newClient(): Holdfast {
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

const warnings = catchWarnings()

const namesOf = () => warnings.map(({ message }) => /^Lock "(.*?)"/.exec(message)?.[1])

type Wait = (signal: AbortSignal) => Promise<unknown>

test('nested code with a new lock object for each call causes one warning for each name, after three seconds', async () => {
  const client = newClient()
  const get = (name: string) => client.getLock(name)
  const rw = (name: string) => client.getReadWriteLock(name)
  const held = await Promise.all([
    get('plain').lock(),
    get('using').lock(),
    get('run').lock(),
    get('owner').lock(),
    get('try').tryLock() as Promise<Lease>,
    client.getFairLock('fair').lock(),
    rw('write').writeLock().lock(),
    rw('read').readLock().lock(),
    client.getMultiLock(get('part'), get('other')).lock(),
    get('whole').lock(),
    get('all').lock(),
  ])
  const nested: Record<string, Wait> = {
    plain: (signal) => get('plain').lock({ signal }),
    // `using` inside code that acquired the lock with `await using`.
    using: (signal) => get('using').using(() => {}, { signal }),
    run: (signal) => client.run(() => get('run').lock({ signal })),
    owner: (signal) => client.getLock('owner', { owner: client.owner() }).lock({ signal }),
    try: (signal) => get('try').tryLock({ waitMs: 60_000, signal }),
    fair: (signal) => client.getFairLock('fair').lock({ signal }),
    write: (signal) => rw('write').readLock().lock({ signal }),
    read: (signal) => rw('read').writeLock().lock({ signal }),
    part: (signal) => get('part').lock({ signal }),
    whole: (signal) => client.getMultiLock(get('free'), get('whole')).lock({ signal }),
    all: (signal) => client.getMultiLock(get('unused'), get('all')).using(() => {}, { signal }),
  }
  const abort = new AbortController()
  const warned = deferred<void>()
  const warning = takes({ atLeast: 2_950 }, warned.promise)
  const waits = Object.values(nested).flatMap((wait) => [wait(abort.signal), wait(abort.signal)])
  await eventually(() => warnings.length > 0)
  warned.resolve()
  await warning
  await eventually(() => warnings.length >= Object.keys(nested).length)
  await never(() => warnings.length > Object.keys(nested).length, 200)
  expect(namesOf().sort()).toEqual(Object.keys(nested).sort())
  for (const { message, code } of warnings) {
    expect(code).toBe('HOLDFAST_SELF_WAIT')
    expect(message).toMatch(
      /3000 ms.*`await using` opens no frame.*nested in the code.*waits for itself.*using\(fn\).*run\(fn\).*owner.*separate tasks.*ignore/,
    )
  }
  abort.abort(new Error('enough'))
  for (const each of waits) await expect(each).rejects.toThrow('enough')
  for (const lease of held) await lease.release()
})

test('tasks that are not nested cause no warning: the holder changes, is in a frame, or in another client', async () => {
  const [client, other] = [newClient(), newClient()]
  const abort = new AbortController()
  const { signal } = abort
  const waits: Promise<unknown>[] = []
  const wait = (lock: HoldfastLock) => {
    const waiting = lock.lock({ signal })
    waiting.catch(() => {})
    waits.push(waiting)
  }
  const far = await other.getLock('far').lock()
  wait(client.getLock('far'))

  const { promise: work, resolve: leave } = deferred<void>()
  const using = client.getLock('using').using(() => work)
  const inFrame = client.getLock('frame').using(async () => {
    const lease = await client.getLock('in frame').lock()
    await work
    await lease.release()
  })
  const run = client.run(async () => {
    const lease = await client.getLock('run').lock()
    await work
    await lease.release()
  })
  const session = await client.getLock('session', { owner: client.owner() }).lock()
  await eventually(async () => (await client.getLock('run').isLocked()) === true)
  await eventually(async () => (await client.getLock('in frame').isLocked()) === true)
  for (const name of ['using', 'in frame', 'run', 'session']) wait(client.getLock(name))
  waits.push(client.getLock('using').using(() => {}, { signal }))

  // The last call waits for 3.6 s in total, which is longer than the delay of the warning. But it waits for each holder
  // only briefly.
  let turn = await client.getLock('turns').lock()
  const turns = Array.from({ length: 8 }, () => client.getLock('turns').lock())
  for (const next of turns) {
    await never(() => warnings.length > 0, 450)
    await turn.release()
    turn = await next
  }
  await turn.release()
  await never(() => warnings.length > 0, 100)
  leave()
  abort.abort(new Error('enough'))
  await Promise.allSettled([...waits, using, inFrame, run])
  for (const lease of [far, session]) await lease.release()
  const left = await Promise.allSettled(waits)
  for (const one of left)
    if (one.status === 'fulfilled') await (one.value as Lease | undefined)?.release()
})
