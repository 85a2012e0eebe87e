// Locks in which the judges must find violations: no lock at all, the usual mistakes, and published libraries that
// are used as their pages say.
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { load } from '../../../bench/compare/libraries/peer.mjs'
import { PERMITS } from '../kinds.mjs'
import { REDISSON } from './redisson/controls.mjs'

/**
 * A library under test.
 *
 * @typedef Control
 * @property {'lock' | 'read-write' | 'permits'} kind the kind of the lock. A semaphore has three permits (`PERMITS`
 * of kinds.mjs)
 * @property {(url: string, leaseMs: number) => Opened | Promise<Opened>} open connects to that Redis; each process
 * calls it once
 * @property {() => void} [prepare] runs before the processes start. If something is missing, it throws an error that
 * says what to install
 * @property {boolean} [isExtra] true if the control runs only by its name, because other controls find the same
 * sooner
 * @property {'pauses' | 'replies'} [faults] the storm of the run; the default is pauses
 */

/**
 * @typedef Opened
 * @property {(name: string, wanted: Wanted) => Promise<Held>} acquire resolves after the grant; a rejection counts as
 * refused, and the caller tries again
 * @property {(name: string) => string} [nameOf] the present name for one of the names of the run. All processes must
 * use the same name at the same time
 * @property {number} [pid] the process of the library, if it is another process. It is stopped and killed together
 * with the client
 */

/**
 * @typedef Wanted
 * @property {'read' | 'write'} [mode] the wanted side of a read-write lock
 * @property {number} [permits] the wanted number of permits of a semaphore; always 1 at present
 */

/**
 * @typedef Held
 * @property {() => boolean} valid true if the library reports now, without a request, that the lock is held
 * @property {() => Promise<unknown>} release
 */

/** @type {Record<string, Control>} by name */
export const LIBRARIES = {
  'no lock': {
    kind: 'lock',
    open: () => ({ acquire: async () => ({ valid: () => true, release: async () => {} }) }),
  },

  /** The release deletes the lock, even if another client has it by then. */
  'SET NX, DEL': {
    kind: 'lock',
    open: (url, leaseMs) => {
      const redis = connect(url)
      const acquire = async (name) => {
        while ((await redis.set(name, 'it', 'PX', leaseMs, 'NX')) === null) await pause(5)
        return { valid: () => true, release: () => redis.del(name) }
      }
      return { acquire }
    },
  },

  redlock: {
    kind: 'lock',
    open: async (url, leaseMs) => {
      const { default: Redlock } = await load('redlock')
      const options = { retryCount: -1, retryDelay: 10, retryJitter: 5 }
      const redlock = new Redlock([connect(url)], options)
      redlock.on('error', () => {})
      const acquire = (name) =>
        new Promise((resolve, reject) => {
          // `using` extends the lock. Its signal aborts if an extension failed.
          const work = (signal) =>
            new Promise((done) => {
              const release = async () => done()
              resolve({ valid: () => !signal.aborted, release })
            })
          redlock.using([name], leaseMs, work).catch(reject)
        })
      return { acquire }
    },
  },

  'redis-semaphore Mutex': { kind: 'lock', open: redisSemaphore('Mutex') },
  'redis-semaphore Semaphore': { kind: 'permits', open: redisSemaphore('Semaphore') },

  ...REDISSON,
}

/** Throws if the control does not exist, or if something that it needs is missing. */
export function prepareControl(name) {
  const names = Object.keys(LIBRARIES)
  if (!names.includes(name)) {
    throw new Error(`There is no control "${name}". Controls are ${names.join(', ')}.`)
  }
  LIBRARIES[name].prepare?.()
}

function redisSemaphore(className) {
  return async (url, leaseMs) => {
    const { [className]: Class } = await load('redis-semaphore')
    const redis = connect(url)
    const args = className === 'Semaphore' ? [PERMITS] : []
    const acquire = async (name) => {
      const times = { lockTimeout: leaseMs, acquireTimeout: 60_000, retryInterval: 10 }
      const one = new Class(redis, name, ...args, { ...times, onLockLost: () => {} })
      await one.acquire()
      return { valid: () => one.isAcquired, release: () => one.release() }
    }
    return { acquire }
  }
}

function connect(url) {
  const redis = new Redis(url, { maxRetriesPerRequest: null })
  redis.on('error', () => {})
  return redis
}
