// Locks that must be convicted: none, the usual mistakes, and what is published, used as its pages say.
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { load } from '../../../bench/compare/libraries/peer.mjs'

/**
 * @typedef Held
 * @property {() => boolean} valid what the library says of it
 * @property {() => Promise<unknown>} release
 */

/** By name: `open(url, leaseMs)`, a function that acquires a lock by its name. */
export const LIBRARIES = {
  'no lock': () => async () => ({ valid: () => true, release: async () => {} }),

  /** It deletes the lock, whoever has it by then. */
  'SET NX, DEL': (url, leaseMs) => {
    const redis = open(url)
    return async (name) => {
      while ((await redis.set(name, 'it', 'PX', leaseMs, 'NX')) === null) await pause(5)
      return { valid: () => true, release: () => redis.del(name) }
    }
  },

  redlock: async (url, leaseMs) => {
    const { default: Redlock } = await load('redlock')
    const redlock = new Redlock([open(url)], { retryCount: -1, retryDelay: 10, retryJitter: 5 })
    redlock.on('error', () => {})
    return (name) =>
      new Promise((resolve, reject) => {
        // `using` extends the lock, and tells by a signal when it could not.
        const work = (signal) =>
          new Promise((done) => {
            const release = async () => done()
            resolve({ valid: () => !signal.aborted, release })
          })
        redlock.using([name], leaseMs, work).catch(reject)
      })
  },

  'redis-semaphore': async (url, leaseMs) => {
    const { Mutex } = await load('redis-semaphore')
    const redis = open(url)
    return async (name) => {
      const options = {
        lockTimeout: leaseMs,
        acquireTimeout: 60_000,
        retryInterval: 10,
        onLockLost: () => {},
      }
      const mutex = new Mutex(redis, name, options)
      await mutex.acquire()
      return { valid: () => mutex.isAcquired, release: () => mutex.release() }
    }
  },
}

function open(url) {
  const redis = new Redis(url, { maxRetriesPerRequest: null })
  redis.on('error', () => {})
  return redis
}
