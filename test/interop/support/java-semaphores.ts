import type { JavaClient } from './java.ts'

export interface Load {
  /** The number of permits that each thread takes at once. */
  permits: number
  /** The key in which the threads count the permits in use. */
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

  /** Threads take permits and give them back. Returns the maximum number of permits in use at the same time. */
  share(load: Load): Promise<number> {
    return this.ask('share', load)
  }

  protected ask<T>(method: string, request: object = {}): Promise<T> {
    return this.#client.java.ask('semaphore', { ...this.#target, method, ...request })
  }
}

/** An `RSemaphore` of Redisson. */
export class JavaSemaphore extends JavaPermits {
  constructor(client: JavaClient, name: string, thread: string) {
    super(client, 'RSemaphore', name, thread)
  }

  /** @param ttlMs how long the semaphore lives; missing for a semaphore that lives forever */
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

/** An `RPermitExpirableSemaphore` of Redisson. Without `leaseMs`, a permit has no lease. */
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

  /** Returns the ids of the permits. */
  acquire(permits = 1, leaseMs?: number): Promise<string[]> {
    return this.ask('acquire', { permits, leaseMs })
  }

  /** Returns the ids of the permits, or no ids if the permits were not available. */
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

  /** Returns how many permits were released: all or none. */
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
