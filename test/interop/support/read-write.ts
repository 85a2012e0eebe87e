import type { ReadWriteLock } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import type { ClientOptions } from '../../support/worlds.ts'
import type { JavaClient, JavaLock } from './java.ts'
import { isQuiet } from './pending.ts'
import type { Stage } from './stage.ts'

/** Much shorter than the lease of 30 s, for which a waiter would wait without a message. */
export const SOON_MS = 5_000

export const NOT_HELD = { type: 'IllegalMonitorStateException' }

export const since = (start: number) => performance.now() - start

interface Java {
  thread?: string
  client?: JavaClient
}

/** The hold of one side of the lock, in either language. */
interface Hold {
  release(): Promise<unknown>
}

export async function javaHold(lock: JavaLock, leaseMs?: number): Promise<Hold> {
  await lock.lock(leaseMs)
  return { release: () => lock.unlock() }
}

/** The helpers of the tests of the read-write lock in both languages. */
export function readWriteOn(stage: Stage) {
  const javaRead = (options: Java = {}) =>
    stage.javaLock({ kind: 'RReadWriteLock.readLock', ...options })
  const javaWrite = (options: Java = {}) =>
    stage.javaLock({ kind: 'RReadWriteLock.writeLock', ...options })

  /** Returns the lock of this test for a new client and a new owner. */
  function nodeLock(options?: ClientOptions): ReadWriteLock {
    const client = stage.nodeClient(options)
    return client.getReadWriteLock(stage.name, { owner: client.owner() })
  }

  /** Acquires one side of the lock in one of the languages, for its own owner. */
  const take = {
    'a reader of Java': (leaseMs?: number) => javaHold(javaRead({ thread: 'holder' }), leaseMs),
    'a writer of Java': (leaseMs?: number) => javaHold(javaWrite({ thread: 'holder' }), leaseMs),
    'a reader here': (leaseMs = 30_000) => nodeLock().readLock().lock(leaseMs),
    'a writer here': (leaseMs = 30_000) => nodeLock().writeLock().lock(leaseMs),
  } satisfies Record<string, (leaseMs?: number) => Promise<Hold>>

  /** Resolves when this number of clients, in both languages together, listens for releases of the lock. */
  async function listeners(count: number): Promise<void> {
    const channel = `redisson_rwlock:{${stage.name}}`
    await eventually(
      async () => {
        const reply = (await stage.server.admin.pubsub('NUMSUB', channel)) as unknown[]
        return Number(reply[1]) === count
      },
      { message: `${count} to listen on ${channel}` },
    )
  }

  /** Resolves when the threads of one Java client are the only waiters, and all of them sleep. */
  async function javaSleeps(): Promise<void> {
    await listeners(1)
    await isQuiet(() => stage.calls('pttl'))
  }

  /** The keys with the leases of the readers, and their TTLs. */
  async function timeouts(): Promise<Record<string, number>> {
    const { admin } = stage.server
    const keys = (await admin.keys(`{${stage.name}}:*:rwlock_timeout:*`)).sort()
    return Object.fromEntries(
      await Promise.all(keys.map(async (key) => [key, await admin.pttl(key)])),
    )
  }

  const timeoutOf = (reader: string, n = 1) => `{${stage.name}}:${reader}:rwlock_timeout:${n}`

  return { javaRead, javaWrite, nodeLock, take, listeners, javaSleeps, timeouts, timeoutOf }
}
