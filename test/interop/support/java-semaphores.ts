import type { JavaClient } from './java.ts'

export interface Load {
  /** How many permits each of them takes at once. */
  permits: number
  /** The key in which they count those that are in use. */
  used: string
  threads: number
  rounds: number
}

/** The methods that both semaphores of Redisson have, with times in milliseconds. */
abstract class JavaPermits {
  readonly #client: JavaClient
  readonly #target: object

  /** @param thread each waiter needs its own thread */
  constructor(client: JavaClient, kind: string, name: string, thread: string) {
    this.#client = client
    this.#target = { client: client.name, kind, names: [name], thread }
  }

  trySetPermits(permits: number): Promise<boolean> {
    return this.ask('trySetPermits', { permits })
  }

  addPermits(permits: number): Promise<void> {
    return this.ask('addPermits', { permits })
  }

  availablePermits(): Promise<number> {
    return this.ask('availablePermits')
  }

  /** Threads that take permits and give them back; returns how many were in use at once, at most. */
  share(load: Load): Promise<number> {
    return this.ask('share', load)
  }

  protected ask<T>(method: string, request: object = {}): Promise<T> {
    return this.#client.java.ask('semaphore', { ...this.#target, method, ...request })
  }
}

/** An `RSemaphore` of Redisson's. */
export class JavaSemaphore extends JavaPermits {
  constructor(client: JavaClient, name: string, thread: string) {
    super(client, 'RSemaphore', name, thread)
  }

  /** @param ttlMs how long the semaphore lives; for good if it is left out */
  override trySetPermits(permits: number, ttlMs?: number): Promise<boolean> {
    return this.ask('trySetPermits', { permits, ttlMs })
  }

  acquire(permits = 1): Promise<void> {
    return this.ask('acquire', { permits })
  }

  tryAcquire(permits = 1, waitMs?: number): Promise<boolean> {
    return this.ask('tryAcquire', { permits, waitMs })
  }

  release(permits = 1): Promise<void> {
    return this.ask('release', { permits })
  }

  drainPermits(): Promise<number> {
    return this.ask('drainPermits')
  }
}

/** An `RPermitExpirableSemaphore` of Redisson's. Without `leaseMs` a permit has no lease. */
export class JavaPermitExpirableSemaphore extends JavaPermits {
  constructor(client: JavaClient, name: string, thread: string) {
    super(client, 'RPermitExpirableSemaphore', name, thread)
  }

  setPermits(permits: number): Promise<void> {
    return this.ask('setPermits', { permits })
  }

  getPermits(): Promise<number> {
    return this.ask('getPermits')
  }

  acquiredPermits(): Promise<number> {
    return this.ask('acquiredPermits')
  }

  /** The ids of the permits. */
  acquire(permits = 1, leaseMs?: number): Promise<string[]> {
    return this.ask('acquire', { permits, leaseMs })
  }

  /** The ids of the permits; none if the permits were not available. */
  tryAcquire(permits = 1, waitMs?: number, leaseMs?: number): Promise<string[]> {
    return this.ask('tryAcquire', { permits, waitMs, leaseMs })
  }

  release(id: string): Promise<void> {
    return this.ask('release', { ids: [id] })
  }

  releaseAll(ids: readonly string[]): Promise<void> {
    return this.ask('releaseAll', { ids })
  }

  tryRelease(id: string): Promise<boolean> {
    return this.ask('tryRelease', { ids: [id] })
  }

  /** How many of them were given back: all or none. */
  tryReleaseAll(ids: readonly string[]): Promise<number> {
    return this.ask('tryReleaseAll', { ids })
  }

  updateLeaseTime(id: string, leaseMs: number): Promise<boolean> {
    return this.ask('updateLeaseTime', { ids: [id], leaseMs })
  }

  getLeaseTime(id: string): Promise<number> {
    return this.ask('getLeaseTime', { ids: [id] })
  }
}
