import type { Holdfast } from '../../src/index.ts'
import { type World, worlds } from '../support/worlds.ts'

type Work = (held: unknown) => unknown

/** The methods that all kinds have, for a lock or for a permit of a semaphore. */
export interface Exclusive {
  using(work: Work, options?: { signal?: AbortSignal }): Promise<unknown>
  acquire(options?: { signal?: AbortSignal }): Promise<{ release(): Promise<unknown> }>
  /** Resolves to null if another owner holds the lock. */
  tryAcquire(options?: {
    waitMs?: number
    signal?: AbortSignal
  }): Promise<{ release(): Promise<unknown> } | null>
}

/** All kinds that one owner holds at a time. The semaphores have one permit. */
export const exclusiveKinds: [kind: string, open: (client: Holdfast, name: string) => Exclusive][] =
  [
    ['a lock', (client, name) => exclusiveOf(client.getLock(name))],
    ['a fair lock', (client, name) => exclusiveOf(client.getFairLock(name))],
    ['the lock to write', (client, name) => exclusiveOf(client.getReadWriteLock(name).writeLock())],
    [
      'the upgradable lock',
      (client, name) => exclusiveOf(client.getReadWriteLock(name).upgradableLock()),
    ],
    [
      'several locks',
      (client, name) =>
        exclusiveOf(client.getMultiLock(client.getLock(`${name} 1`), client.getLock(`${name} 2`))),
    ],
    [
      'a permit with a lease',
      (client, name) => {
        const semaphore = client.getPermitExpirableSemaphore(name, { permits: 1 })
        return {
          using: (work, options) => semaphore.using(work, options),
          acquire: (options) => semaphore.acquire(options),
          tryAcquire: (options) => semaphore.tryAcquire(options),
        }
      },
    ],
    [
      'a permit without a lease',
      (client, name) => {
        const semaphore = client.getSemaphore(name)
        const made = async <T>(then: () => Promise<T>) => {
          await semaphore.trySetPermits(1)
          return then()
        }
        const held = { release: () => semaphore.release() }
        return {
          using: (work, options) => made(() => semaphore.using(() => work(undefined), options)),
          acquire: (options) => made(() => semaphore.acquire(options).then(() => held)),
          tryAcquire: (options) =>
            made(async () => ((await semaphore.tryAcquire(options)) ? held : null)),
        }
      },
    ],
  ]

interface AnyLock {
  using(work: Work, options?: object): Promise<unknown>
  lock(options?: object): Promise<{ release(): Promise<unknown> }>
  tryLock(options?: object): Promise<{ release(): Promise<unknown> } | null>
}

const exclusiveOf = (lock: AnyLock): Exclusive => ({
  using: (work, options) => lock.using(work, options),
  acquire: (options) => lock.lock(options),
  tryAcquire: (options) => lock.tryLock(options),
})

/** A Redis server, and the memory of this process. */
export const twoPlaces: readonly World[] = worlds.filter(({ name }) =>
  /own client|memory/.test(name),
)
