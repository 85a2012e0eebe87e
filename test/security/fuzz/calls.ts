import fc from 'fast-check'
import { type Holdfast, HoldfastError } from '../../../src/index.ts'
import { createMemoryServer } from '../../../src/testing.ts'
import { anything, optionsOf, type Target, targetLater, texts } from './target.ts'

const OPTIONS = [
  ...[
    'leaseMs',
    'waitMs',
    'renew',
    'maxHoldMs',
    'signal',
    'otherwise',
    'permits',
    'ttlMs',
    'drainMs',
  ],
  ...['reason', 'owner', 'label', 'round', 'calledAt', 'keepMs', 'parties'],
]

type Call = (client: Holdfast, name: string, args: readonly unknown[]) => unknown

const callOf = (object: object, method: string, args: readonly unknown[]) =>
  (object as Record<string, (...all: unknown[]) => unknown>)[method]?.(...args)

/** Returns a call for each of these method names. The call runs the method on the object that `get` returns. */
function callsOf(get: (client: Holdfast, name: string) => object, methods: string): Call[] {
  return methods.split(' ').map((method) => (client, name, args) => {
    return callOf(get(client, name), method, args)
  })
}

/** Returns a call for each of these method names. The call runs the method on a lease of the upgradable lock. */
function callsOfUpgradable(methods: string): Call[] {
  return methods.split(' ').map((method) => async (client, name, args) => {
    const lease = await client.getReadWriteLock(name).upgradableLock().lock()
    return callOf(lease, method, args)
  })
}

const CALLS_OF_ALL: readonly Call[] = [
  ...callsOf(
    (client) => client,
    'getLock getFairLock getReadWriteLock getSemaphore getPermitExpirableSemaphore getCountDownLatch getCyclicBarrier getRateLimiter getLeaderElection getMultiLock getRedLock run clientInfo held',
  ),
  ...callsOf(
    (client, name) => client.getLock(name),
    'lock tryLock using tryUsing unlock requestRelease whenFree onFree forceUnlock holdCount why inspect',
  ),
  ...callsOf((client, name) => client.getFairLock(name), 'lock tryLock using tryUsing'),
  ...callsOf((client, name) => client.getReadWriteLock(name).readLock(), 'lock tryLock using'),
  ...callsOf((client, name) => client.getReadWriteLock(name).writeLock(), 'lock tryLock using'),
  ...callsOf(
    (client, name) => client.getReadWriteLock(name).upgradableLock(),
    'lock tryLock using tryUsing',
  ),
  ...callsOfUpgradable('upgrade tryUpgrade extend release'),
  ...callsOf(
    (client, name) => client.getMultiLock(client.getLock(name)),
    'lock tryLock using tryUsing',
  ),
  ...callsOf(
    (client, name) => client.getSemaphore(name),
    'trySetPermits acquire tryAcquire using tryUsing release releaseIfExists addPermits drainPermits delete',
  ),
  ...callsOf(
    (client, name) => client.getPermitExpirableSemaphore(name),
    'trySetPermits setPermits addPermits acquire tryAcquire using tryUsing release delete',
  ),
  ...callsOf(
    (client, name) => client.getCountDownLatch(name),
    'trySetCount countDown await delete',
  ),
  ...callsOf((client, name) => client.getCyclicBarrier(name), 'await inspect'),
  ...callsOf(
    (client, name) => client.getRateLimiter(name, { permits: 1, perMs: 1 }),
    'acquire tryAcquire inspect reset',
  ),
  ...callsOf((client, name) => client.getLeaderElection(name), 'lead resign leader inspect'),
]

/** A call that takes longer than this is a call that waits. It ends when its client closes. */
const WAITS_MS = 5

async function settle(work: () => unknown): Promise<void> {
  try {
    const result = work()
    let timer: NodeJS.Timeout | undefined
    const waits = new Promise((done) => {
      timer = setTimeout(done, WAITS_MS)
    })
    const done = Promise.resolve(result)
    done.catch(() => undefined)
    await Promise.race([done, waits]).finally(() => clearTimeout(timer))
  } catch (error) {
    if (error instanceof HoldfastError) return
    // The caller's own signal gave this reason.
    if (error instanceof Error && error.name === 'AbortError') return
    throw error
  }
}

const first = fc.oneof(
  { weight: 3, arbitrary: optionsOf(OPTIONS) },
  { weight: 1, arbitrary: texts },
  { weight: 2, arbitrary: fc.constant(() => undefined) },
  { weight: 2, arbitrary: fc.integer({ min: -1, max: 20 }) },
)

export const CALLS: readonly Target[] = [
  targetLater(
    'arguments of each method',
    4,
    fc.tuple(
      fc.constantFrom(...CALLS_OF_ALL),
      texts,
      fc.array(fc.oneof(first, anything), { maxLength: 3 }),
    ),
    async ([call, name, args]) => {
      const client = createMemoryServer().newClient({ label: 'fuzz' })
      client.on('error', () => undefined)
      try {
        await settle(() => call(client, name, args))
      } finally {
        await client.close()
      }
    },
  ),
  targetLater(
    'options of close()',
    1,
    fc.array(fc.oneof(optionsOf(['drainMs']), anything), { maxLength: 2 }),
    async (args) => {
      const client = createMemoryServer().newClient()
      await settle(() => (client.close as (...all: unknown[]) => unknown)(...args))
      await client.close()
    },
  ),
]
