// Redisson's locks and semaphores in a JVM, as controls.

import { PERMITS } from '../../kinds.mjs'
import { now } from '../../random.mjs'
import { ensureJvm, Jvm } from './jvm.mjs'

/** A caller asks again after this time, so that it does not wait forever for lost permits. */
const WAIT_MS = 2_000
/** The same time as for the clients of Holdfast. */
const RESPONSE_MS = 300
/** If the count of a semaphore is wrong, it stays wrong. So all clients use another semaphore after this time. */
const SEMAPHORE_MS = 4_000

/**
 * Redisson reports no loss to a holder. Redisson has no signal, and `isHeldByCurrentThread()` is a request to Redis,
 * whose answer is late. So a holder works until its `unlock()` throws, as in the examples of Redisson.
 */
const valid = () => true

/** @type {Record<string, import('../libraries.mjs').Control>} by name; each has `prepare`, which throws without a JVM */
export const REDISSON = {
  'redisson-lock': {
    kind: 'lock',
    isExtra: true,
    prepare: ensureJvm,
    open: (url, leaseMs) => openLocks(url, leaseMs, () => 'RLock'),
  },

  'redisson-read-write': {
    kind: 'read-write',
    prepare: ensureJvm,
    open: (url, leaseMs) => openLocks(url, leaseMs, ({ mode }) => `RReadWriteLock.${mode}Lock`),
  },

  /**
   * The permits have a lease, because a process that dies loses permits without a lease. Nothing renews the lease.
   */
  'redisson-permits': {
    kind: 'permits',
    prepare: ensureJvm,
    open: async (url, leaseMs) => {
      const { jvm, onThread } = await openJvm(url)
      const kind = 'RPermitExpirableSemaphore'
      const acquire = (name, { permits }) =>
        onThread(async (thread) => {
          const ask = (method, request) =>
            jvm.ask('semaphore', thread, { kind, names: [name], method, ...request })
          await ask('trySetPermits', { permits: PERMITS })
          const ids = await ask('tryAcquire', { permits, waitMs: WAIT_MS, leaseMs })
          if (ids.length === 0) return undefined
          return () => ask('releaseAll', { ids })
        })
      return { acquire, pid: jvm.pid }
    },
  },

  /**
   * This semaphore has no leases, so a pause does no harm. If Redisson is connected to a master with replicas, it
   * repeats a request after a lost reply, even if there are no replicas now. Then Redis counts the permits of a
   * release twice.
   */
  'redisson-semaphore': {
    kind: 'permits',
    prepare: ensureJvm,
    faults: 'replies',
    open: async (url) => {
      const { jvm, onThread } = await openJvm(url, { replicas: [], timeoutMs: RESPONSE_MS })
      const acquire = (name, { permits }) =>
        onThread(async (thread) => {
          const ask = (method, request) =>
            jvm.ask('semaphore', thread, { kind: 'RSemaphore', names: [name], method, ...request })
          await ask('trySetPermits', { permits: PERMITS })
          const has = await ask('tryAcquire', { permits, waitMs: WAIT_MS })
          return has ? () => ask('release', { permits }) : undefined
        })
      const nameOf = (name) => `${name}.${Math.floor(now() / SEMAPHORE_MS)}`
      return { acquire, nameOf, pid: jvm.pid }
    },
  },
}

/** Locks that the watchdog of Redisson renews. */
async function openLocks(url, leaseMs, kindOf) {
  const { jvm, onThread } = await openJvm(url, { watchdogMs: leaseMs })
  const acquire = (name, wanted) =>
    onThread(async (thread) => {
      const lock = { kind: kindOf(wanted), names: [name] }
      const has = await jvm.ask('tryLock', thread, { ...lock, waitMs: WAIT_MS })
      return has ? () => jvm.ask('unlock', thread, lock) : undefined
    })
  return { acquire, pid: jvm.pid }
}

/** A JVM with one client, and threads for its callers. The thread that acquired a lock also releases it. */
async function openJvm(url, settings = {}) {
  const { port, pathname } = new URL(url)
  const jvm = new Jvm()
  await jvm.ask('open', 'main', {
    port: Number(port),
    database: Number(pathname.slice(1)),
    ...settings,
  })
  const idle = []
  let threads = 0
  const newThread = () => {
    threads += 1
    return `caller ${threads}`
  }

  /** @param acquire returns a function that releases the lock; returns undefined if the wait timed out */
  async function onThread(acquire) {
    const thread = idle.pop() ?? newThread()
    let giveBack
    try {
      giveBack = await acquire(thread)
      if (giveBack === undefined) throw new Error(`Not acquired within ${WAIT_MS} ms`)
    } finally {
      if (giveBack === undefined) idle.push(thread)
    }
    return { valid, release: () => giveBack().finally(() => idle.push(thread)) }
  }
  return { jvm, onThread }
}
