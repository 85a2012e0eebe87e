// Redisson's locks and semaphores in a JVM, as controls.

import { PERMITS } from '../../kinds.mjs'
import { now } from '../../random.mjs'
import { ensureJvm, Jvm } from './jvm.mjs'

/** A caller asks again after so long: it is not to wait for ever for permits that are lost. */
const WAIT_MS = 2_000
/** As the clients of Holdfast have it. */
const RESPONSE_MS = 300
/** A semaphore whose count is wrong stays wrong: after so long all clients go on with another one. */
const SEMAPHORE_MS = 4_000

/**
 * Redisson tells a holder nothing of a loss: there is no signal, and `isHeldByCurrentThread()` is a request to Redis,
 * whose answer is old when it comes. So a holder works on until its `unlock()` throws, as in the examples of Redisson.
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

  /** With a lease, as permits without one are lost when their process dies. Nothing renews it. */
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
   * It has no lease, so a pause does it no harm. Connected to a master with replicas, even if there are none at the
   * moment, Redisson sends a request once more whose reply is lost: the permits of a release are counted twice.
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

/** Locks that its watchdog renews. */
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

/** A JVM with one client, and threads for its callers: a thread that has acquired something releases it as well. */
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

  /** @param acquire how to release what it got, or undefined if it got nothing in time */
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
