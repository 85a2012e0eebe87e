import type { Holdfast, Lease, Permit } from '../../src/index.ts'
import { type World, worlds } from '../support/worlds.ts'

type Work = (held: unknown) => unknown

/** One thing that work can be done under, whatever kind it is of: what all kinds have in common. */
export interface Door {
  using(work: Work, options?: { signal?: AbortSignal }): Promise<unknown>
  /** Acquires without work. */
  enter(options?: { signal?: AbortSignal }): Promise<{ release(): Promise<unknown> }>
  /** Null if somebody else has it. */
  tryEnter(options?: {
    waitMs?: number
    signal?: AbortSignal
  }): Promise<{ release(): Promise<unknown> } | null>
}

/** Every kind that one owner has at a time. A semaphore has one permit here. */
export const exclusiveKinds: [kind: string, open: (client: Holdfast, name: string) => Door][] = [
  ['a lock', (client, name) => doorOf(client.getLock(name))],
  ['a fair lock', (client, name) => doorOf(client.getFairLock(name))],
  ['the lock to write', (client, name) => doorOf(client.getReadWriteLock(name).writeLock())],
  ['the upgradable lock', (client, name) => doorOf(client.getReadWriteLock(name).upgradableLock())],
  [
    'several locks',
    (client, name) =>
      doorOf(client.getMultiLock(client.getLock(`${name} 1`), client.getLock(`${name} 2`))),
  ],
  [
    'a permit with a lease',
    (client, name) => {
      const semaphore = client.getPermitExpirableSemaphore(name, { permits: 1 })
      return {
        using: (work, options) => semaphore.using(work, options),
        enter: (options) => semaphore.acquire(options),
        tryEnter: (options) => semaphore.tryAcquire(options),
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
        enter: (options) => made(() => semaphore.acquire(options).then(() => held)),
        tryEnter: (options) =>
          made(async () => ((await semaphore.tryAcquire(options)) ? held : null)),
      }
    },
  ],
]

interface Usable {
  using(work: Work, options?: object): Promise<unknown>
  lock(options?: object): Promise<{ release(): Promise<unknown> }>
  tryLock(options?: object): Promise<{ release(): Promise<unknown> } | null>
}

const doorOf = (lock: Usable): Door => ({
  using: (work, options) => lock.using(work, options),
  enter: (options) => lock.lock(options),
  tryEnter: (options) => lock.tryLock(options),
})

/** A server of Redis, and the memory of this process. */
export const twoPlaces: readonly World[] = worlds.filter(({ name }) =>
  /own client|memory/.test(name),
)

export type Held = Lease | Permit
