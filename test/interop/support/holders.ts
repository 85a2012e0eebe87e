import type { HoldfastLock, Lock } from '../../../src/index.ts'
import type { ClientOptions } from '../../support/worlds.ts'
import type { JavaClient, JavaLock, Kind } from './java.ts'
import type { Stage } from './stage.ts'

export type Language = 'Java' | 'Node'

/** In each direction, another language acts first. */
export const directions: readonly (readonly [first: Language, second: Language])[] = [
  ['Java', 'Node'],
  ['Node', 'Java'],
]

/** One kind of lock in both languages. */
export interface LockPair {
  java: Kind
  node: 'getLock' | 'getFairLock' | 'readLock' | 'writeLock'
}

export interface HolderOptions {
  /** Holders of one language with the same word are the same owner: one thread in Java, or one owner in Node. */
  as?: string
  name?: string
  javaClient?: JavaClient
  nodeOptions?: ClientOptions
}

/** One owner of one lock, in either language, with the methods that both languages have. */
export interface Holder {
  lock(leaseMs?: number): Promise<void>
  tryLock(waitMs?: number, leaseMs?: number): Promise<boolean>
  /** Rejects with an error that {@link NOT_HOLDER} matches if this owner does not hold the lock. */
  unlock(): Promise<void>
  forceUnlock(): Promise<boolean>
  isLocked(): Promise<boolean>
  isHeld(): Promise<boolean>
  holdCount(): Promise<number>
  /** The remaining lease in milliseconds; 0 if the lock is free. */
  remainingMs(): Promise<number>
}

/** The error of both languages for an owner that unlocks a lock without holding it. */
export const NOT_HOLDER = /IllegalMonitorStateException|does not hold it|lease .* lost/i

/** Makes owners of the locks of one stage. */
export function holdersOn(stage: Stage) {
  const clients = new Map<string, ReturnType<Stage['nodeClient']>>()
  const owners = new Map<string, ReturnType<ReturnType<Stage['nodeClient']>['owner']>>()
  let strangers = 0

  function nodeLock(pair: LockPair, as: string, { name = stage.name, nodeOptions }: HolderOptions) {
    const key = `${stage.name} ${as}`
    const client = clients.get(key) ?? stage.nodeClient(nodeOptions)
    const owner = owners.get(key) ?? client.owner()
    clients.set(key, client)
    owners.set(key, owner)
    return pair.node === 'getLock' || pair.node === 'getFairLock'
      ? client[pair.node](name, { owner })
      : client.getReadWriteLock(name, { owner })[pair.node]()
  }

  /** Without `as`, the holder is a new owner. In Node, this owner also has a new client. */
  return (language: Language, pair: LockPair, options: HolderOptions = {}): Holder => {
    strangers += 1
    const { as = `stranger ${strangers}`, name = stage.name, javaClient: client } = options
    if (language === 'Node') return nodeHolder(nodeLock(pair, as, options))
    const rest = client === undefined ? {} : { client }
    const lock = { kind: pair.java, thread: as, name, keepsObject: true, ...rest }
    return javaHolder(stage.javaLock(lock))
  }
}

function javaHolder(lock: JavaLock): Holder {
  return {
    lock: (leaseMs) => lock.lock(leaseMs),
    tryLock: (waitMs, leaseMs) => lock.tryLock(waitMs, leaseMs),
    unlock: () => lock.unlock(),
    forceUnlock: () => lock.forceUnlock(),
    isLocked: () => lock.isLocked(),
    isHeld: () => lock.isHeldByCurrentThread(),
    holdCount: () => lock.getHoldCount(),
    remainingMs: async () => Math.max(0, await lock.remainTimeToLive()),
  }
}

function nodeHolder(lock: HoldfastLock | Lock): Holder {
  return {
    lock: async (leaseMs) => {
      await lock.lock(leaseMs === undefined ? {} : { leaseMs })
    },
    tryLock: async (waitMs, leaseMs) => {
      const options = {
        ...(waitMs === undefined ? {} : { waitMs }),
        ...(leaseMs === undefined ? {} : { leaseMs }),
      }
      return (await lock.tryLock(options)) !== null
    },
    unlock: () => lock.unlock(),
    forceUnlock: () => lock.forceUnlock(),
    isLocked: () => lock.isLocked(),
    isHeld: () => lock.isHeld(),
    holdCount: () => lock.holdCount(),
    remainingMs: () => lock.remainingMs(),
  }
}
