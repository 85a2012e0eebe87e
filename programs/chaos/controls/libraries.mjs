// Locks that must be convicted: none, the usual mistakes, and what is published, used as its pages say.
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { load } from '../../../bench/compare/libraries/peer.mjs'
import { PERMITS } from '../kinds.mjs'
import { REDISSON } from './redisson/controls.mjs'

/**
 * A library under test.
 *
 * @typedef Control
 * @property {'lock' | 'read-write' | 'permits'} kind what it offers: a lock, a read-write lock, or a semaphore with
 * three permits (`PERMITS` of kinds.mjs)
 * @property {(url: string, leaseMs: number) => Opened | Promise<Opened>} open connects to that Redis; a process calls
 * it once
 * @property {() => void} [prepare] what is done before the processes start. It throws with what to install if something
 * is not there
 * @property {boolean} [isExtra] whether it runs only when it is named: it shows nothing that others do not show sooner
 * @property {'pauses' | 'replies'} [faults] which storm it is put through; pauses if it is left out
 */

/**
 * @typedef Opened
 * @property {(name: string, wanted: Wanted) => Promise<Held>} acquire waits until it is granted; a rejection counts as
 * refused, and is tried again
 * @property {(name: string) => string} [nameOf] the name that is used now for one of the names of the run. All processes
 * come to the same at the same time
 * @property {number} [pid] the process in which the library runs, if it is another one: it is stopped and killed
 * together with the client
 */

/**
 * @typedef Wanted
 * @property {'read' | 'write'} [mode] of a read-write lock: the side that is wanted
 * @property {number} [permits] of a semaphore: how many permits, 1 at present
 */

/**
 * @typedef Held
 * @property {() => boolean} valid whether the library reports, at this moment and without a request, that it is held
 * @property {() => Promise<unknown>} release
 */

/** @type {Record<string, Control>} by name */
export const LIBRARIES = {
  'no lock': {
    kind: 'lock',
    open: () => ({ acquire: async () => ({ valid: () => true, release: async () => {} }) }),
  },

  /** It deletes the lock, whoever has it by then. */
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
          // `using` extends the lock, and tells by a signal when it could not.
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

/** Throws if there is no such control, or if something that it needs is not there. */
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
